"""Whether a user of Copilot is signed in, by the environment and the files in its home.

The token itself is in the system's keychain where there is one, so no file does not mean no sign-in.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from dragoman.harnesses.contract.sign_in import SignIn, SignInCheck
from dragoman.wire.loose import as_dict

KEY_NAMES: Final = (
    "COPILOT_PROVIDER_API_KEY",
    "COPILOT_PROVIDER_BEARER_TOKEN",
    "COPILOT_GITHUB_TOKEN",
    "GH_TOKEN",
    "GITHUB_TOKEN",
)
_ACCOUNTS: Final = ("loggedInUsers", "logged_in_users", "lastLoggedInUser", "last_logged_in_user")


def sign_in_files(env: Mapping[str, str]) -> tuple[str, ...]:
    """The file that names the accounts."""
    home = env.get("COPILOT_HOME") or f"{env.get('HOME') or env.get('USERPROFILE') or '~'}/.copilot"
    return (f"{home}/config.json",)


def read_sign_in(env: Mapping[str, str], contents: Sequence[bytes]) -> SignIn:
    """The verdict. A provider of the user's own needs no account."""
    if env.get("COPILOT_PROVIDER_BASE_URL") or any(env.get(name) for name in KEY_NAMES):
        return SignIn(signed_in=True)
    try:
        config = as_dict(json.loads(contents[0])) if contents and contents[0] else {}
    except (ValueError, RecursionError):
        config = {}
    if any(config.get(name) for name in _ACCOUNTS):
        return SignIn(signed_in=True)
    return SignIn(signed_in=False, needed=True)


SIGN_IN: Final = SignInCheck(files=sign_in_files, read=read_sign_in)
