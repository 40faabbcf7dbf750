"""Whether a user of Qwen Code is signed in, by the environment and the files in its home."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from dragoman.harnesses.contract.sign_in import SignIn, SignInCheck
from dragoman.harnesses.qwen.history import QWEN_HOME
from dragoman.wire.loose import as_dict, as_str

KEY_NAMES: Final = ("OPENAI_API_KEY", "DASHSCOPE_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY")
_OAUTH: Final = "qwen-oauth"
_OF_METHOD: Final = {
    "openai": "OPENAI_API_KEY",
    "openai-responses": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "gemini": "GEMINI_API_KEY",
}
"""The key that each way to sign in needs."""


def settings_file(env: Mapping[str, str]) -> str:
    """The user's ``settings.json``."""
    return f"{QWEN_HOME.path(env)}/settings.json"


def sign_in_files(env: Mapping[str, str]) -> tuple[str, ...]:
    """The settings, which name a method; the credentials of an account; a file of variables."""
    home = QWEN_HOME.path(env)
    return settings_file(env), f"{home}/oauth_creds.json", f"{home}/.env"


def read_sign_in(env: Mapping[str, str], contents: Sequence[bytes]) -> SignIn:
    """The verdict. A model provider of the user's own may name a key that is not known here."""
    settings, credentials, variables = (*contents, b"", b"", b"")[:3]
    given = _object(settings)
    method = _method(given)
    known = as_dict(given.get("env"))

    def has(name: str) -> bool:
        return bool(env.get(name) or known.get(name) or f"{name}=".encode() in variables)

    has_account = bool(_object(credentials).get("refresh_token"))
    if method == _OAUTH:
        return SignIn(signed_in=True if has_account else None)
    if as_dict(given.get("modelProviders")) or as_dict(
        as_dict(given.get("security")).get("auth")
    ).get("apiKey"):
        return SignIn(signed_in=True)
    if method is not None:
        name = _OF_METHOD.get(method)
        if name is None:
            return SignIn()
        return SignIn(signed_in=True) if has(name) else SignIn(signed_in=False, needed=True)
    if any(map(has, KEY_NAMES)) or has_account:
        return SignIn(signed_in=True)
    return SignIn(signed_in=False, needed=True)


def _method(settings: dict[str, Any]) -> str | None:
    chosen = as_dict(as_dict(settings.get("security")).get("auth")).get("selectedType")
    return as_str(chosen) or as_str(settings.get("selectedAuthType"))


def _object(content: bytes) -> dict[str, Any]:
    try:
        return as_dict(json.loads(content))
    except (ValueError, RecursionError):
        return {}


SIGN_IN: Final = SignInCheck(files=sign_in_files, read=read_sign_in)
