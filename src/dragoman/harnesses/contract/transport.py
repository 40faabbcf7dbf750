"""How a harness is started and driven: one value for each way it offers.

A :class:`SessionTransport` carries a :class:`~dragoman.harnesses.contract.conversation.Conversation`:
one process for all sessions, or one process for each. A :class:`TurnTransport` starts a process for a
single prompt. Which one is used is the caller's choice (``connect(harness, transport=…)``); the first
in :attr:`Harness.transports` is the usual one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol, TypeAlias

import msgspec

from dragoman.harnesses.contract.conversation import Clock, Conversation, Release
from dragoman.harnesses.contract.session_files import SessionFiles
from dragoman.model.intents import OpenSession
from dragoman.model.messages import Message, Outcome, TurnError
from dragoman.model.usage import Usage
from dragoman.wire.lines import LongLine

Framing: TypeAlias = Literal["lines", "content-length", "http"]
"""How messages are separated on the wire. A conversation always sees whole lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """The plan for starting a process."""

    argv: tuple[str, ...]
    cwd: str | None = None
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """Added to our own environment."""
    env_for_root: Mapping[str, str] = field(default_factory=dict[str, str])
    """Added as well where we are root on this machine."""
    stdin: bool = True
    """Whether we write to it; otherwise its standard input is empty."""
    preamble: bytes = field(default=b"", repr=False)
    """Lines for its standard input before anything else. May hold keys: not journalled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneShot:
    """A prompt for a process of its own, which ends when it has answered (``codex exec``)."""

    prompt: str
    cwd: str
    sandbox: str = "workspace-write"
    """The native access value, one of :attr:`Capabilities.access`."""
    model: str | None = None
    effort: str | None = None
    images: tuple[str, ...] = ()
    output_schema: str | None = None
    """The path of a file."""
    ephemeral: bool = False
    resume: str | None = None
    fork: str | None = None
    profile: str | None = None
    add_dirs: tuple[str, ...] = ()
    config: Mapping[str, Any] = field(default_factory=dict[str, Any])
    trust_is_decided: bool = False
    """The user has decided whether the folder is trusted; otherwise it is not, for this prompt."""
    skip_git_check: bool = True


class Run(Protocol):
    """One process that was given one prompt, line by line. Sans I/O, like a conversation.

    Whatever happens to the process, it emits the prompt and exactly one ``turn_ended``.
    """

    def opening(self) -> bytes:
        """What the stream does not carry and we know, as a line for the journal."""
        ...

    def receive_time(self, at: datetime) -> None:
        """The lines to come arrive at this time. There is no clock in here."""
        ...

    def receive_line(self, line: bytes) -> None:
        """Take a line that it printed. Never raises."""
        ...

    def receive_long_line(self, line: LongLine) -> None:
        """Take the place of a line that was too long to keep."""
        ...

    def end_turn(self, outcome: Outcome, error: TurnError | None = None) -> None:
        """End the turn before the process does: stalled, out of time, or given up.

        Messages that still arrive belong to that turn, and do not start another.
        """
        ...

    def receive_exit(
        self, code: int | None, *, stopped: bool = False, stderr_tail: str = ""
    ) -> None:
        """The process is gone, and no more lines follow: what is open ends.

        ``code`` is negative for the signal that ended it, None if it is not known; ``stopped`` means
        that we wanted it to end.
        """
        ...

    def messages(self) -> list[Message]:
        """The messages since the last call, in order."""
        ...


class LaunchSession(Protocol):
    def __call__(
        self, program: str, release: Release | None, opening: OpenSession | None, /
    ) -> Launch:
        """The launch of a process for sessions.

        ``opening`` is the session to open, with access and asking as native values, when
        :attr:`SessionTransport.sessions` is ``one``; otherwise None. Raises
        :class:`dragoman.errors.Unsupported` for what the release cannot do.
        """
        ...


class LaunchTurn(Protocol):
    def __call__(self, program: str, release: Release | None, shot: OneShot, /) -> Launch:
        """The launch for one prompt. Raises :class:`dragoman.errors.Unsupported`."""
        ...


class MakeRun(Protocol):
    def __call__(
        self, release: Release | None, shot: OneShot, spent: Usage | None = None, /
    ) -> Run:
        """A run at its start.

        ``spent`` is what the resumed session has used in all, if that is known: some releases report
        totals only, and without it a follow-up cannot report its own usage.
        """
        ...


CheckProfile: TypeAlias = Callable[[str, Release | None, Callable[[str], str | None]], None]


def no_settings(env: Mapping[str, str]) -> dict[str, Any]:
    """The settings of a program that reads its environment itself."""
    return {}


def nothing_to_hide(path: str, body: Any) -> Any:
    """The body unchanged, for a server whose responses hold no secrets."""
    return body


class HttpServer(msgspec.Struct, frozen=True, kw_only=True):
    """How to use a server that we start: over HTTP, on loopback, with a password made up for this process.

    Requests, responses and events are lines for the conversation: ``{"id", "method", "path", "body"}`` is sent,
    ``{"id", "status", "body"}`` or ``{"id", "error"}`` comes back. A response that is a stream of events comes back
    without a body, again whenever the stream was interrupted and opened again; the data of each event is a line.
    """

    address: Callable[[bytes], str | None]
    """The address in a line of its standard output; None for any other line."""
    variables: Callable[[Mapping[str, str], str], dict[str, str]]
    """What is added to this environment, so that the server demands this password."""
    user: str
    """The name that goes with the password."""
    without_secrets: Callable[[str, Any], Any] = nothing_to_hide
    """The body of the response to this path without the keys in it: lines are journalled."""


class SessionTransport(msgspec.Struct, frozen=True, kw_only=True):
    """A process with a conversation: many sessions in it, or one.

    With ``sessions="one"`` the engine starts a process for each session with the ``OpenSession`` that
    it is for, greets it, and submits that same ``OpenSession``. The conversation answers with the
    :class:`SessionFacts` of the one session. To resume after a crash a new process is started with
    ``OpenSession.resume``.
    """

    name: str
    """``app-server``, ``stream-json``, ``acp`` …"""
    dialect: str
    """The dialect that its lines are in."""
    launch: LaunchSession
    conversation: Callable[[Release | None, Clock | None], Conversation]
    """A conversation at its start. Without a clock, an agent that asks for the time is refused."""
    sessions: Literal["many", "one"] = "many"
    framing: Framing = "lines"
    http: HttpServer | None = None
    """How it is reached with ``framing="http"``."""
    takes_paths: bool = True
    """Images can be given by their path; otherwise the engine reads them and gives ``data:`` addresses."""
    has_address: bool = False
    """A running server can be reached by its address (``unix://``, ``ws://``)."""
    files: SessionFiles | None = None
    """The files that the agent writes for its session, where they contain what the wire leaves out."""
    settings: Callable[[Mapping[str, str]], dict[str, Any]] = no_settings
    """The settings that sessions take from the environment, for a program that ignores its own variables
    when it is driven. ``OpenSession.config`` has them, unless the caller sets others."""


class TurnTransport(msgspec.Struct, frozen=True, kw_only=True):
    """A process for each prompt, which ends when it has answered."""

    name: str
    dialect: str
    launch: LaunchTurn
    make_run: MakeRun
    sessions: Literal["one turn"] = "one turn"
    framing: Framing = "lines"
    check_profile: CheckProfile | None = None
    """Refuses a profile, by its name, that the release would not find; the last argument reads a file in
    the harness's home."""


Transport: TypeAlias = SessionTransport | TurnTransport
