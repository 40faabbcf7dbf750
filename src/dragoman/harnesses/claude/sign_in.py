"""Whether a user of Claude Code is signed in, by the environment and the files in its home."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from dragoman.harnesses.contract.sign_in import SignIn, SignInCheck
from dragoman.wire.loose import as_dict

KEY_NAMES: Final = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
_CLOUDS: Final = ("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY")


def config_folder(env: Mapping[str, str]) -> str:
    """Where Claude keeps its settings and sessions."""
    return env.get("CLAUDE_CONFIG_DIR") or f"{_user(env)}/.claude"


def settings_file(env: Mapping[str, str]) -> str:
    """The user's ``settings.json``."""
    return f"{config_folder(env)}/settings.json"


def sign_in_files(env: Mapping[str, str]) -> tuple[str, ...]:
    """The credentials, the state that names the account, and the settings, which may name a key helper."""
    folder = env.get("CLAUDE_CONFIG_DIR")
    state = f"{folder}/.claude.json" if folder else f"{_user(env)}/.claude.json"
    return f"{config_folder(env)}/.credentials.json", state, settings_file(env)


def read_sign_in(env: Mapping[str, str], contents: Sequence[bytes]) -> SignIn:
    """The verdict. On macOS credentials are in the keychain, so no file does not mean no sign-in."""
    credentials, state, settings = (_object(content) for content in (*contents, b"", b"", b"")[:3])
    if any(env.get(name) for name in (*KEY_NAMES, *_CLOUDS)):
        return SignIn(signed_in=True)
    if as_dict(credentials.get("claudeAiOauth")).get("accessToken"):
        return SignIn(signed_in=True)
    if state.get("oauthAccount") or state.get("primaryApiKey"):
        return SignIn(signed_in=True)
    variables = as_dict(settings.get("env"))
    if settings.get("apiKeyHelper") or any(variables.get(n) for n in (*KEY_NAMES, *_CLOUDS)):
        return SignIn(signed_in=True)
    return SignIn(signed_in=False, needed=True)


def _object(content: bytes) -> dict[str, Any]:
    try:
        return as_dict(json.loads(content))
    except (ValueError, RecursionError):
        return {}


def _user(env: Mapping[str, str]) -> str:
    return env.get("HOME") or env.get("USERPROFILE") or "~"


SIGN_IN: Final = SignInCheck(files=sign_in_files, read=read_sign_in)
