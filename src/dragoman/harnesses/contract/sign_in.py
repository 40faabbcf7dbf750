"""The contract for whether a user is signed in, as far as that is known without asking the agent. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import msgspec


class SignIn(NamedTuple):
    """Whether a user is signed in."""

    signed_in: bool | None = None
    """None: it is not known."""
    needed: bool = False
    """No one is signed in, and the model cannot be used without."""


class SignInCheck(msgspec.Struct, frozen=True, kw_only=True):
    """Which files to read, and what they mean together with the environment."""

    files: Callable[[Mapping[str, str]], tuple[str, ...]]
    """The paths of the files, in this environment."""
    read: Callable[[Mapping[str, str], Sequence[bytes]], SignIn]
    """The verdict; the contents are in the order of the files, empty for a file that is not there."""
