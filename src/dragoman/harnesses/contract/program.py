"""How a harness's program is found, and what surrounds it: its release, settings, sign-in, schema. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from dragoman.harnesses.contract.conversation import Release
from dragoman.harnesses.contract.sign_in import SignInCheck


class Bundled(msgspec.Struct, frozen=True, kw_only=True):
    """A Python package that may carry the program. It is located, never imported."""

    package: str
    file: str
    """The program below the package's folder, with slashes; on Windows ``.exe`` is added."""


class Drift(msgspec.Struct, frozen=True, kw_only=True):
    """What a program's own schema names, compared with what we know."""

    reviewed: list[str]
    """The releases whose schemas were looked at, name by name."""
    names: int
    """How many names the schema has that concern us."""
    new: list[str]
    unknown: list[str]
    """Names, new or not, that would be kept as ``unknown`` or treated like any other word."""
    permissions: list[str]
    """Those of the two that concern what an agent may do."""


class Schema(msgspec.Struct, frozen=True, kw_only=True):
    """How a program is asked for the schema of its output."""

    arguments: Callable[[str], tuple[str, ...]]
    """The arguments that make it write its schema into a folder."""
    file: str
    """The file in that package that contains the program."""
    drift: Callable[[bytes], Drift]
    """What that file names and we do not know. Raises ``ValueError`` if it is no schema."""


class Remembered(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that the harness itself has written down after an ``allow_always``."""

    decision: str
    prefix: tuple[str, ...] = ()
    """Commands that begin with these words …"""
    host: str | None = None
    """… or connections to this host."""


class Remembers(msgspec.Struct, frozen=True, kw_only=True):
    """Where a harness keeps such rules, one per line."""

    folder: str
    """Below its home."""
    suffix: str
    read: Callable[[str], Remembered | None]
    """The rule that a line is; None for any other line."""


def _speaks_nothing_known(release: Release | None) -> list[str]:
    return []


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """The program of a harness on this machine."""

    command: str
    """Its name on the PATH. Empty: any program, which the caller names."""
    parse_release: Callable[[str], Release | None]
    """The release that ``COMMAND --version`` prints."""
    bundled: Bundled | None = None
    """Where it is if not on the PATH."""
    install: str = ""
    """How to install it, as a command or two."""
    speaks: Callable[[Release | None], list[str]] = _speaks_nothing_known
    """What a release emits and writes, in words."""
    session_variable: str | None = None
    """A variable in the environment of every command that an agent runs, which names its session."""
    key_names: tuple[str, ...] = ()
    """Variables of the environment that hold keys; the first is the one to sign in with."""
    sign_in: SignInCheck | None = None
    settings_file: Callable[[Mapping[str, str]], str] | None = None
    """Where a user's settings are, in this environment."""
    is_trust_decided: Callable[[bytes, str], bool] | None = None
    """Whether those settings decide if a folder is trusted; None for a program without such a question."""
    profile: Callable[[str, Callable[[str], str | None]], dict[str, Any]] | None = None
    """The settings of a profile, by its name; the second argument reads a file in the harness's home."""
    sandbox_trials: tuple[tuple[str, ...], ...] = ()
    """Arguments after which it runs a command in its sandbox, to try whether that works. One of them
    fits each release. Empty: it has no such command."""
    schema: Schema | None = None
    remembers: Remembers | None = None
