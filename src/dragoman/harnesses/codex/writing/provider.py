"""The model provider of a new session. A rollout names it, and Codex resumes none that names no provider."""

from __future__ import annotations

import tomllib
from typing import Final

from dragoman.harnesses.codex.values.loose import as_dict, as_str

_USUAL: Final = "openai"


def model_provider(settings: bytes) -> str:
    """The provider that the user's ``config.toml`` chooses for new sessions."""
    try:
        found = tomllib.loads(settings.decode("utf-8", "replace"))
    except tomllib.TOMLDecodeError:
        return _USUAL  # Codex itself says what is wrong with the file
    profile = as_dict(as_dict(found.get("profiles")).get(as_str(found.get("profile")) or ""))
    return as_str(profile.get("model_provider")) or as_str(found.get("model_provider")) or _USUAL
