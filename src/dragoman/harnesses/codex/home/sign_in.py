"""Whether a user of Codex is signed in, by the files in its home: for ``codex exec``, which does not report it.

The app-server is asked itself (``account/read``).
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from typing import Any

from dragoman.harnesses.codex.values.loose import as_dict, as_str
from dragoman.harnesses.contract.sign_in import SignIn

_OPENAI = "openai"
_KEYS = ("CODEX_API_KEY", "CODEX_ACCESS_TOKEN")
"""What ``codex exec`` takes instead of a sign-in."""


def read_sign_in(env: Mapping[str, str], settings: bytes, auth: bytes) -> SignIn:
    """``settings`` and ``auth`` are ``config.toml`` and ``auth.json``, empty where there is none."""
    try:
        config: dict[str, Any] = tomllib.loads(settings.decode("utf-8", "replace"))
    except tomllib.TOMLDecodeError:
        return SignIn()  # Codex itself will report what is wrong with it
    profile = as_dict(as_dict(config.get("profiles")).get(as_str(config.get("profile")) or ""))
    provider = as_str(profile.get("model_provider")) or as_str(config.get("model_provider"))
    if provider not in (None, _OPENAI):
        own = as_dict(as_dict(config.get("model_providers")).get(provider or ""))
        if own.get("requires_openai_auth") is not True:
            return SignIn()
    if any(env.get(name) for name in _KEYS) or _has_credentials(auth):
        return SignIn(signed_in=True)
    if as_str(config.get("cli_auth_credentials_store")) in (None, "file"):
        return SignIn(signed_in=False, needed=True)
    return SignIn()  # they may be in the system's keyring


def _has_credentials(auth: bytes) -> bool:
    try:
        kept = as_dict(json.loads(auth))
    except ValueError:
        return False
    return any(value for name, value in kept.items() if name not in ("auth_mode", "last_refresh"))
