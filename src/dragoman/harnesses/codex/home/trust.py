"""Keeping Codex from trusting a folder for good because of one run.

Since about 0.105, a session that may write makes Codex add ``trust_level = "trusted"`` for its repository to the
user's ``config.toml``, unless a level is set. From then on every session there loads the repository's own
settings, hooks and rules. That is the user's decision: where they have made none, a session of ours sets for
its own duration that the folder is not trusted, and then Codex writes nothing.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any, Final

from dragoman.harnesses.codex.values.loose import as_dict, as_list, as_str
from dragoman.harnesses.codex.versions import Feature

TRUSTS: Final = Feature(name="trusting a folder that is worked in", since=(0, 105, 0))
_PROJECTS: Final = "projects"


def with_trust_withheld(config: Mapping[str, Any], cwd: str) -> dict[str, Any]:
    """Settings for one session: as given, and the folder is not trusted."""
    return {**config, _PROJECTS: {cwd: {"trust_level": "untrusted"}}}


def may_be_trusted(release: tuple[int, int, int] | None, sandbox: str, config: object) -> bool:
    """Whether a session with this sandbox and these settings would make Codex trust its folder."""
    is_new = release is None or release >= TRUSTS.since
    named = as_dict(config)
    return is_new and sandbox != "read-only" and not any(key.startswith(_PROJECTS) for key in named)


def is_decided(answer: Mapping[str, Any], cwd: str) -> bool:
    """Whether the user has decided if the folder is trusted, by the answer to ``config/read``."""
    layers = [as_dict(each) for each in as_list(answer.get("layers"))]
    loaded = any(
        as_dict(each.get("name")).get("type") == "project" and each.get("disabledReason") is None
        for each in layers
    )
    return loaded or _names(as_dict(as_dict(answer.get("config")).get(_PROJECTS)), cwd)


def is_decided_in(settings: bytes, cwd: str) -> bool:
    """The same, by the text of ``config.toml``. Codex itself reports what is wrong with an invalid one."""
    try:
        found = tomllib.loads(settings.decode("utf-8", "replace"))
    except tomllib.TOMLDecodeError:
        return False
    return _names(as_dict(found.get(_PROJECTS)), cwd)


def _names(projects: dict[str, Any], cwd: str) -> bool:
    """The folder itself or one above it: the level of a repository is that of its root."""
    named = [name for name, facts in projects.items() if as_str(as_dict(facts).get("trust_level"))]
    places = [name.rstrip("/\\") for name in named]
    return any(cwd == place or cwd.startswith(place + "/") for place in places)
