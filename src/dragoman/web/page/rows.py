"""Plain values from which the page is rendered. The server fills them in; no HTML and no store here."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

import msgspec

from dragoman.model.messages import ApprovalRequested, Message

State: TypeAlias = Literal["working", "waiting", "done", "failed", "idle"]
"""``waiting``: for a decision of a person. ``idle``: interrupted, or without a prompt yet."""


Act: TypeAlias = Literal["rename", "fork", "archive", "unarchive", "stop"]
Window: TypeAlias = tuple[str, float | None, datetime | None]
"""A rate limit window: its name, the percentage used, and when it resets."""


class PageEntry(Protocol):
    """A message with its number in the session. The store's entries fit."""

    @property
    def seq(self) -> int: ...
    @property
    def at(self) -> datetime | None: ...
    @property
    def message(self) -> Message: ...


class Fragment(msgspec.Struct, frozen=True):
    """An entry as HTML. Empty if it is not displayed, so that every entry still moves the cursor."""

    seq: int
    html: str


class SessionRow(msgspec.Struct, frozen=True, kw_only=True):
    """A session in the sidebar or in the history."""

    session_id: str
    title: str = ""
    state: State = "done"
    cwd: str | None = None
    model: str | None = None
    harness: str | None = None
    version: str | None = None
    at: datetime | None = None
    """The time of its last activity."""
    is_live: bool = False
    """Whether it accepts prompts."""
    is_archived: bool = False
    """Whether it is archived."""
    is_open: bool = False
    """Whether its last turn has no end although no program runs it."""
    is_elsewhere: bool = False
    """Whether another program runs it."""
    snippet: str = ""
    """The matching text of a search hit."""
    turn: int | None = None
    """The turn of a search hit, from 1."""


class TurnMark(msgspec.Struct, frozen=True, kw_only=True):
    """A turn in the list of turns."""

    seq: int
    title: str = ""
    outcome: str = "open"


class OpenRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request that waits for a person."""

    asked: ApprovalRequested
    deadline_at: datetime | None = None


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """A value of a drop-down list."""

    value: str
    label: str = ""
    summary: str = ""
    """One sentence about what it means."""
    is_full: bool = False
    """Whether it gives the agent full access, which the page highlights."""


class HarnessChoices(msgspec.Struct, frozen=True, kw_only=True):
    """The choices for a session of one agent. The first of each is the default."""

    name: str = ""
    title: str = ""
    icon: str = ""
    """Path data of an SVG icon; empty: a monogram."""
    status: str = ""
    """Its release and sign-in state, in a few words."""
    problem: str | None = None
    """Why the agent is unavailable, and how to fix it."""
    models: Sequence[str] = ()
    access: Sequence[Option] = ()
    asking: Sequence[Option] = ()
    efforts: Sequence[str] = ()
    can_steer: bool = True
    can_interrupt: bool = True
    is_installed: bool = True


class Choices(msgspec.Struct, frozen=True, kw_only=True):
    """The agents that a session can use, the default one first, and the folders."""

    harnesses: Sequence[HarnessChoices] = ()
    folders: Sequence[str] = ()
    """Allowed folders: the roots, and folders used before."""

    def of(self, name: str | None) -> HarnessChoices:
        """The choices of an agent; those of the default one for an unknown name."""
        first = next(iter(self.harnesses), HarnessChoices())
        return next((each for each in self.harnesses if each.name == name), first)


class SessionView(msgspec.Struct, frozen=True, kw_only=True):
    """One session, with its newest fragments."""

    row: SessionRow
    fragments: Sequence[Fragment] = ()
    has_earlier: bool = False
    last_seq: int = 0
    """The newest entry: the cursor from which the page follows."""
    turns: Sequence[TurnMark] = ()
    pending: Sequence[OpenRequest] = ()
    exports: Sequence[str] = ("html", "markdown", "text", "messages", "claude")
    sandbox: str | None = None
    windows: Sequence[Window] = ()
    """The account's rate limits."""
    acts: Sequence[Act] = ()
    """The actions on the whole session."""
    receivers: Sequence[Option] = ()
    """The agents that it can be handed off to."""
    closed: str | None = None
    """Why it cannot be resumed, in a sentence."""


class UsageRow(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of a day, a model, a folder or a session."""

    key: str
    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    """US dollars; None if the model has no known price."""
    sessions: int = 0


class UsageView(msgspec.Struct, frozen=True, kw_only=True):
    days: Sequence[UsageRow] = ()
    models: Sequence[UsageRow] = ()
    folders: Sequence[UsageRow] = ()
    windows: Sequence[Window] = ()
    """The account's rate limits: name, percentage used, reset time."""
    sessions: int = 0
    """The total number of sessions. A session may be active on several days."""
    unpriced_tokens: int = 0


class PastVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The decision of a policy on a past request."""

    kind: str
    summary: str
    decision: str
    rule: str | None = None
    was: str | None = None
    """The decision made at the time."""
    session_id: str | None = None
    seq: int | None = None
    at: datetime | None = None


class PolicyView(msgspec.Struct, frozen=True, kw_only=True):
    text: str = ""
    path: str | None = None
    problem: str | None = None
    line: int | None = None
    verdicts: Sequence[PastVerdict] = ()
