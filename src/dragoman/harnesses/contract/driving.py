"""The contract for driving a harness: how it is launched, and how a conversation with it goes.

Everything here is sans I/O. A conversation is given the lines that came, and asked for the messages
they made, for the answers to our intents, and for the lines to send; it starts nothing, waits for
nothing and knows no time. Processes, deadlines, retries and restarts are :mod:`dragoman.drive`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, Protocol, TypeAlias

from dragoman.model.intents import Intent
from dragoman.model.messages import Message, Outcome, TurnError
from dragoman.model.usage import Usage
from dragoman.wire.lines import LongLine

Release: TypeAlias = tuple[int, int, int]
Clock: TypeAlias = Callable[[], int]
"""Says what time it is, in seconds since 1970: time comes from outside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why an intent was not carried out."""

    kind: str
    """One of the kinds of :class:`dragoman.errors.AgentError`: ``response_error``, ``turn_failed``,
    ``authority`` (the server applied other permissions than were asked), ``unsupported`` …"""
    message: str
    retry: bool = False
    """The server is overloaded and the same intent may be submitted again later."""
    code: int | None = None


class Answer(NamedTuple):
    """What came of an intent: a value, or the refusal."""

    ticket: int
    value: Any = None
    refusal: Refusal | None = None


class ToolRequest(NamedTuple):
    """The model calls a tool of ours; the agent waits for the :class:`AnswerTool`."""

    session_id: str
    call_id: str
    tool: str
    namespace: str | None
    arguments: Any


class Conversation(Protocol):
    """One live exchange with one harness process, line by line. No I/O, no clock, no tasks."""

    def receive_line(self, line: bytes) -> None:
        """Take a line that they sent. Never raises."""
        ...

    def receive_long_line(self, line: LongLine) -> None:
        """Take the place of a line that was too long to keep."""
        ...

    def receive_eof(self) -> None:
        """They will say no more: every open intent is refused, every open turn ends."""
        ...

    def submit(self, intent: Intent) -> int:
        """Take a wish; its :class:`Answer` will carry the ticket returned here.

        Raises :class:`dragoman.errors.Unsupported` for what this release cannot do.
        """
        ...

    def messages(self) -> list[Message]:
        """The messages made since the last call, in order; those of lines we sent included."""
        ...

    def answers(self) -> list[Answer]:
        """The answers to our intents since the last call."""
        ...

    def tool_requests(self) -> list[ToolRequest]:
        """The calls of our own tools since the last call, each to be answered."""
        ...

    def lines_to_send(self) -> list[bytes]:
        """What is to be written since the last call, in order; each line ends with a newline."""
        ...

    def end_turn(self, session_id: str, outcome: Outcome, error: TurnError | None = None) -> None:
        """End a turn that the other side does not end: lost, stalled, or not interrupted in time.

        Makes the turn's one ``turn_ended`` (and closes its open calls); what still arrives for that
        turn afterwards does not begin it anew.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """The plan for starting a process."""

    argv: tuple[str, ...]
    cwd: str | None = None
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """Laid over our own environment."""
    stdin: bool = True
    """Whether it is spoken to; otherwise its standard input is empty."""
    preamble: bytes = field(default=b"", repr=False)
    """Lines that its standard input begins with, before anything else. May hold keys: not journalled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneShot:
    """A prompt for a process of its own, that ends when it has answered (``codex exec``)."""

    prompt: str
    cwd: str
    sandbox: str = "workspace-write"
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
    """The user has said whether the folder is trusted; otherwise it is not, for this prompt."""
    skip_git_check: bool = True


class Run(Protocol):
    """One process that was given one prompt, line by line. Sans I/O, like a conversation.

    Whatever becomes of the process, it tells the prompt and exactly one ``turn_ended``.
    """

    def opening(self) -> bytes:
        """What the stream does not say and we know, as a line for the journal."""
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

        What still arrives is told under that turn, and does not begin another.
        """
        ...

    def receive_exit(
        self, code: int | None, *, stopped: bool = False, stderr_tail: str = ""
    ) -> None:
        """The process is gone, and no more lines will come: what is open ends.

        ``code`` is negative for the signal that ended it, None if nobody knows; ``stopped`` says
        that we wanted it to end.
        """
        ...

    def messages(self) -> list[Message]:
        """The messages made since the last call, in order."""
        ...


class MakeRun(Protocol):
    def __call__(
        self, release: Release | None, shot: OneShot, spent: Usage | None = None, /
    ) -> Run:
        """A run at its start.

        ``spent`` is what the session to go on with had come to in all, if anybody knows: some
        releases tell totals only, and without it a follow-up cannot say what it has spent itself.
        """
        ...


class SignIn(NamedTuple):
    """Whether a user is signed in, as far as that can be known without asking the agent."""

    signed_in: bool | None = None
    """None: it is not known."""
    needed: bool = False
    """No one is signed in, and the model cannot be used without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """What a program's own schema names, against what we know."""

    reviewed: list[str]
    """The releases whose schemas were looked at, name by name."""
    names: int
    """How many names the schema has that concern us."""
    new: list[str]
    unknown: list[str]
    """What would be kept as ``unknown``, or taken for any other word, be it new or not."""
    permissions: list[str]
    """Those of the two that concern what an agent may do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """How a program is asked for the schema of what it says."""

    arguments: Callable[[str], tuple[str, ...]]
    """What it is called with to write its schema into a folder."""
    file: str
    """The file in there that has all of it."""
    drift: Callable[[bytes], Drift]
    """What that file names and we do not know. Raises ``ValueError`` if it is no schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A rule that the harness itself has written down, because somebody said ``allow_always``."""

    decision: str
    prefix: tuple[str, ...] = ()
    """Commands that begin with these words …"""
    host: str | None = None
    """… or connections to this host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembers:
    """Where a harness keeps such rules, one in a line."""

    folder: str
    """Below its home."""
    suffix: str
    read: Callable[[str], Remembered | None]
    """The rule that a line is; None for any other line."""


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
