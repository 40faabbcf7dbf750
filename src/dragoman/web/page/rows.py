"""What the page is told: plain values that whoever serves it fills in. No HTML and no store here."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

import msgspec

from dragoman.model.messages import ApprovalRequested, Message

State: TypeAlias = Literal["working", "waiting", "done", "failed", "idle"]
"""``waiting``: for a person, who has something to decide. ``idle``: interrupted, or not yet asked."""


Act: TypeAlias = Literal["rename", "fork", "archive", "unarchive", "stop"]
Window: TypeAlias = tuple[str, float | None, datetime | None]
"""An allowance: its name, how much of it is used, in percent, and when it begins anew."""


class PageEntry(Protocol):
    """A message with its place in the session; the store's own entries will do."""

    @property
    def seq(self) -> int: ...
    @property
    def at(self) -> datetime | None: ...
    @property
    def message(self) -> Message: ...


class Fragment(msgspec.Struct, frozen=True):
    """An entry as HTML. Empty if there is nothing to see, so that every entry moves the cursor."""

    seq: int
    html: str


class SessionRow(msgspec.Struct, frozen=True, kw_only=True):
    """A session in the list beside the page, or in the history."""

    session_id: str
    title: str = ""
    state: State = "done"
    cwd: str | None = None
    model: str | None = None
    harness: str | None = None
    version: str | None = None
    at: datetime | None = None
    """When something last happened in it."""
    is_live: bool = False
    """Whether it can be spoken to."""
    is_archived: bool = False
    """Whether it was put away."""
    is_open: bool = False
    """Whether its last turn has no end, and no program works on it."""
    is_elsewhere: bool = False
    """Whether another program is at it."""
    snippet: str = ""
    """The words that a search found."""
    turn: int | None = None
    """The turn that it found them in, from 1."""


class TurnMark(msgspec.Struct, frozen=True, kw_only=True):
    """A turn in the list of turns."""

    seq: int
    title: str = ""
    outcome: str = "open"


class PendingApproval(msgspec.Struct, frozen=True, kw_only=True):
    """A request that waits for a person."""

    asked: ApprovalRequested
    deadline_at: datetime | None = None


class Choices(msgspec.Struct, frozen=True, kw_only=True):
    """What can be chosen for a session. The first of each is what is chosen if nobody does."""

    models: Sequence[str] = ()
    sandboxes: Sequence[str] = ("workspace-write", "read-only", "danger-full-access")
    approvals: Sequence[str] = ("on-request", "untrusted", "never")
    """When the installed release can be told to ask."""
    folders: Sequence[str] = ()
    """Where a session may work: the allowed roots, and folders used before."""
    can_steer: bool = True
    can_interrupt: bool = True
    problem: str | None = None
    """Why the agent cannot work now, and the way out."""


class SessionView(msgspec.Struct, frozen=True, kw_only=True):
    """One session, with the newest of its fragments."""

    row: SessionRow
    fragments: Sequence[Fragment] = ()
    has_earlier: bool = False
    last_seq: int = 0
    """The newest entry there is: the cursor from which the page listens."""
    turns: Sequence[TurnMark] = ()
    pending: Sequence[PendingApproval] = ()
    exports: Sequence[str] = ("html", "markdown", "text", "messages", "claude")
    sandbox: str | None = None
    windows: Sequence[Window] = ()
    """The account's allowances."""
    acts: Sequence[Act] = ()
    """What can be done with it as a whole."""
    closed: str | None = None
    """Why nobody can go on with it, in a sentence."""


class UsageRow(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of a day, a model, a folder or a session."""

    key: str
    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    """US dollars; none if the model has no known price."""
    sessions: int = 0


class UsageView(msgspec.Struct, frozen=True, kw_only=True):
    days: Sequence[UsageRow] = ()
    models: Sequence[UsageRow] = ()
    folders: Sequence[UsageRow] = ()
    windows: Sequence[Window] = ()
    """The account's allowance: name, percent used, when it begins anew."""
    sessions: int = 0
    """How many there were in all: one may have worked on several days."""
    unpriced_tokens: int = 0


class PastVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a policy would say to a request of the past."""

    kind: str
    summary: str
    decision: str
    rule: str | None = None
    was: str | None = None
    """What was decided then."""
    session_id: str | None = None
    seq: int | None = None
    at: datetime | None = None


class PolicyView(msgspec.Struct, frozen=True, kw_only=True):
    text: str = ""
    path: str | None = None
    problem: str | None = None
    line: int | None = None
    verdicts: Sequence[PastVerdict] = ()
