"""Whether a user of opencode is signed in, by the environment and the file with the providers' keys.

A provider may also have its key in the configuration, and some models need none: no key here does not mean that no
model can be used.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from dragoman.harnesses.contract.sign_in import SignIn, SignInCheck
from dragoman.wire.loose import as_dict

KEY_NAMES: Final = ("OPENCODE_API_KEY",)
_OTHERS: Final = (
    "OPENCODE_AUTH_CONTENT",
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "GEMINI_API_KEY",
)


def sign_in_files(env: Mapping[str, str]) -> tuple[str, ...]:
    """The file that ``opencode auth login`` writes."""
    home = env.get("HOME") or env.get("USERPROFILE") or "~"
    data = env.get("XDG_DATA_HOME") or f"{home}/.local/share"
    return (f"{data}/opencode/auth.json",)


def read_sign_in(env: Mapping[str, str], contents: Sequence[bytes]) -> SignIn:
    """The verdict."""
    if any(env.get(name) for name in (*KEY_NAMES, *_OTHERS)):
        return SignIn(signed_in=True)
    try:
        accounts = as_dict(json.loads(contents[0])) if contents and contents[0] else {}
    except (ValueError, RecursionError):
        accounts = {}
    return SignIn(signed_in=True if accounts else None)


SIGN_IN: Final = SignInCheck(files=sign_in_files, read=read_sign_in)
