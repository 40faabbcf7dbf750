"""Whether a user of Gemini CLI is signed in, by the environment and the files in its home."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from dragoman.harnesses.contract.sign_in import SignIn, SignInCheck
from dragoman.harnesses.gemini.history import GEMINI_HOME
from dragoman.wire.loose import as_dict, as_str

KEY_NAMES: Final = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
_KEY_METHOD: Final = "gemini-api-key"
_OAUTH_METHOD: Final = "oauth-personal"
_SURROUNDINGS: Final = frozenset(
    ("vertex-ai", "compute-default-credentials", "cloud-shell", "gateway")
)


def settings_file(env: Mapping[str, str]) -> str:
    """The user's ``settings.json``."""
    return f"{GEMINI_HOME.path(env)}/settings.json"


def sign_in_files(env: Mapping[str, str]) -> tuple[str, ...]:
    """The settings, which name a method; the credentials of a Google account; a file of variables."""
    home = GEMINI_HOME.path(env)
    return settings_file(env), f"{home}/oauth_creds.json", f"{home}/.env"


def read_sign_in(env: Mapping[str, str], contents: Sequence[bytes]) -> SignIn:
    """The verdict. Credentials may also be in the system's keychain, so some methods stay unknown."""
    settings, credentials, variables = (*contents, b"", b"", b"")[:3]
    method = _method(_object(settings))
    has_key = any(env.get(name) or f"{name}=".encode() in variables for name in KEY_NAMES)
    has_account = bool(_object(credentials).get("refresh_token"))
    if method in _SURROUNDINGS or (method is None and env.get("GOOGLE_GENAI_USE_VERTEXAI")):
        return SignIn()
    if method == _OAUTH_METHOD:
        return SignIn(signed_in=True if has_account else None)
    if has_key or (method is None and has_account):
        return SignIn(signed_in=True)
    if method == _KEY_METHOD:
        return SignIn()  # the key may be in the keychain
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
