"""The first form of the contract for driving a harness, until everything uses transports.

Use :mod:`~dragoman.harnesses.contract.conversation`, :mod:`~dragoman.harnesses.contract.transport` and
:mod:`~dragoman.harnesses.contract.program` in new code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dragoman.harnesses.contract.conversation import (
    Answer,
    Clock,
    Conversation,
    Refusal,
    Release,
    ToolRequest,
)
from dragoman.harnesses.contract.program import Drift, Remembered, Remembers, Schema
from dragoman.harnesses.contract.sign_in import SignIn
from dragoman.harnesses.contract.transport import Launch, MakeRun, OneShot, Run

__all__ = [
    "Answer",
    "Clock",
    "Conversation",
    "Drift",
    "Driving",
    "Launch",
    "MakeRun",
    "OneShot",
    "Refusal",
    "Release",
    "Remembered",
    "Remembers",
    "Run",
    "Schema",
    "SignIn",
    "ToolRequest",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Driving:
    """How a harness is started and talked to. Everything that depends on its release is in here."""

    command: str
    """The program's name on the PATH."""
    bundled: tuple[str, str] | None = None
    """A Python package that may carry the program, and its function that says where."""
    parse_release: Callable[[str], Release | None]
    """The release that ``COMMAND --version`` names."""
    serve: Callable[[str, Release | None], Launch]
    """The launch of a server for many sessions, for the program at this path."""
    make_conversation: Callable[[Release | None, Clock | None], Conversation]
    """A conversation at its start; without a clock, an agent that asks for the time is refused."""
    run_once: Callable[[str, Release | None, OneShot], Launch]
    """The launch for one prompt. Raises :class:`dragoman.errors.Unsupported`."""
    make_run: MakeRun
    """What the process of :meth:`run_once` is told to, and asked for its messages."""
    one_shot_dialect: str
    """What :meth:`run_once`'s process says."""
    install: str = ""
    """How it is installed, in words."""
    speaks: Callable[[Release | None], list[str]] = lambda release: []
    """What a release speaks and writes, in words."""
    sign_in_file: Callable[[Mapping[str, str]], str] = lambda env: ""
    """Where it is kept that a user is signed in."""
    sign_in: Callable[[Mapping[str, str], bytes, bytes], SignIn] = lambda env, settings, auth: (
        SignIn()
    )
    """Whether a user is signed in, by the environment, the settings and that file."""
    settings_file: Callable[[Mapping[str, str]], str] = lambda env: ""
    """Where a user's settings are, in this environment."""
    is_trust_decided: Callable[[bytes, str], bool] = lambda settings, cwd: True
    """Whether those settings say if a folder is trusted."""
    session_variable: str | None = None
    """A variable in the environment of every command that an agent runs, which names its session."""
    approval_modes: Callable[[Release | None], tuple[str, ...]] = lambda release: ()
    """When a release can be told to ask, the usual one first."""
    profile: Callable[[str, Callable[[str], str | None]], dict[str, Any]] | None = None
    """The settings of a profile, by its name; the second argument reads a file in the harness's home."""
    key_names: tuple[str, ...] = ()
    """Variables of the environment that hold keys; the first is the one to sign in with."""
    schema: Schema | None = None
    """How it is asked for its schema; None for a program that has none."""
    remembers: Remembers | None = None
    """Where it keeps what is always allowed; None if it remembers nothing."""
