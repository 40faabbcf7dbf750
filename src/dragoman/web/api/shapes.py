"""What the API takes and gives, as JSON: the names here are a public contract."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

from dragoman.archive.index.updating import Progress
from dragoman.archive.saved import SavedSession
from dragoman.hub.hub import HarnessInfo, LiveSession, PendingApproval, Steered
from dragoman.model.intents import ApprovalMode, Sandbox
from dragoman.model.messages import ApprovalRequested, Message, RateWindow
from dragoman.model.usage import Usage
from dragoman.web.archive_worker import as_time

Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=200)]
Words: TypeAlias = Annotated[str, Meta(min_length=1, max_length=4_000_000)]
State: TypeAlias = Literal["working", "waiting", "done", "failed", "idle"]
Images: TypeAlias = Annotated[list[str], Meta(max_length=16)]


class Login(msgspec.Struct, frozen=True):
    """The token that ``dragoman serve`` printed."""

    token: Annotated[str, Meta(max_length=500)]


class SignedIn(msgspec.Struct, frozen=True):
    """What a page that has signed in keeps to itself."""

    key: str
    """Send it as ``X-Dragoman-Key`` with every request, beside the cookie."""


class Harnesses(msgspec.Struct, frozen=True):
    """Agent programs that can be driven here."""

    harnesses: list[HarnessInfo]


class StartSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session to begin, or to go on with."""

    cwd: Annotated[str, Meta(min_length=1, max_length=4096)]
    prompt: Words | None = None
    images: Images = []
    model: Name | None = None
    effort: Name | None = None
    sandbox: Sandbox = "workspace-write"
    approvals: ApprovalMode = "on-request"
    resume: Name | None = None
    """A saved session to go on with."""


class RenameBody(msgspec.Struct, frozen=True):
    """A new name for a session."""

    title: Name


class StartTurnBody(msgspec.Struct, frozen=True, kw_only=True):
    """What to ask the agent, and how it may work on it."""

    text: Words
    images: Images = []
    model: Name | None = None
    effort: Name | None = None
    sandbox: Sandbox | None = None
    """From this turn on; without it, as it is."""
    approvals: ApprovalMode | None = None
    """The same."""


class SteerBody(msgspec.Struct, frozen=True, kw_only=True):
    """What to say to the turn under way."""

    text: Words
    images: Images = []


class TurnAccepted(msgspec.Struct, frozen=True):
    """The turn that was begun, or that the words were said to."""

    turn_id: str | None


class SessionInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A session, be it live or only saved."""

    id: str
    native_id: str | None = None
    """What its own messages call it."""
    is_live: bool
    """Whether it can be spoken to at once; a saved one can be resumed."""
    title: str | None = None
    state: State = "idle"
    harness: str | None = None
    version: str | None = None
    model: str | None = None
    cwd: str | None = None
    parent_id: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    archived: bool = False
    usage: Usage | None = None
    last_usage: Usage | None = None
    context_window: int | None = None
    rate_limits: list[RateWindow] = []
    last_seq: int | None = None
    turn_id: str | None = None
    sandbox: str | None = None
    approvals: Any = None
    error: str | None = None
    steered: list[Steered] = []
    """What was said to the turn under way and the agent has not taken up: still pending, or returned with its end."""
    open_turn: bool = False
    """Of a saved session: its last turn has no end, and ``updated_at`` is when something was last said in it."""
    running_elsewhere: bool = False
    """Of a saved session: another program has its file open. It can be watched and forked."""


class Indexing(msgspec.Struct, frozen=True):
    """How far the index of saved sessions is, while it is brought up to date."""

    files: int
    all_files: int
    bytes: int
    all_bytes: int


class SessionPage(msgspec.Struct, frozen=True):
    """A page of the list of sessions."""

    sessions: list[SessionInfo]
    next: str | None
    """The ``cursor`` that the list goes on with; null at its end."""
    indexing: Indexing | None = None
    """If saved sessions are still being indexed: there may be more than are listed."""


class NewestSaved(msgspec.Struct, frozen=True):
    """Saved sessions that are not live, the newest first, and none of them archived."""

    sessions: list[SessionInfo]
    are_all: bool
    """Whether there are no older ones."""


class SavedGone(msgspec.Struct, frozen=True):
    """A session that was deleted from the disk, or that is live by now under another id."""

    id: str


class EntryInfo(msgspec.Struct, frozen=True):
    """A message of a session, with its place in it."""

    seq: int
    at: datetime | None
    message: Message


class EntryPage(msgspec.Struct, frozen=True):
    """A page of what was said in a session."""

    entries: list[EntryInfo]
    next: int | None
    """The ``after`` that the list goes on with; null at its end."""


class FragmentInfo(msgspec.Struct, frozen=True):
    """An entry as HTML; empty if there is nothing to see."""

    seq: int
    html: str


class SessionTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn of a session, and where it begins."""

    number: int
    """From 1."""
    seq: int
    """Of its first entry; below zero if it was before the session came here."""
    title: str
    outcome: str


class ApprovalInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Something that an agent asks, and that waits for a person."""

    id: str
    session_id: str
    asked_at: datetime
    deadline_at: datetime | None
    request: ApprovalRequested


class Approvals(msgspec.Struct, frozen=True):
    """All that waits for a person."""

    approvals: list[ApprovalInfo]


class DecisionBody(msgspec.Struct, frozen=True, kw_only=True):
    """A decision about an approval."""

    session_id: Name
    decision: Literal["allow", "allow_for_session", "allow_always", "deny", "cancel", "answered"]
    message: Annotated[str, Meta(max_length=10_000)] | None = None
    """A word to the agent."""
    answers: dict[str, list[str]] = {}
    """For questions: the answers by the question's id, or by its text."""
    content: dict[str, Any] | None = None
    """For elicitations: the form, filled in."""


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A place where something was found."""

    session_id: str
    turn: int
    kind: str
    tool: str | None
    at: datetime | None
    is_error: bool
    cwd: str | None
    title: str | None
    line: int
    snippet: str | None
    spans: list[tuple[int, int]]
    """The places in the snippet that were looked for."""


class Hits(msgspec.Struct, frozen=True):
    """What a search found, the best first."""

    hits: list[Hit]
    is_ranked: bool
    indexing: Indexing | None = None
    """If saved sessions are still being indexed: there may be more to find."""


class UsageGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens and money of one group, such as a day or a model."""

    key: str
    usage: Usage | None
    cost: str | None
    """US dollars, as a decimal number; null if nothing in it has a price."""
    unpriced_tokens: int
    responses: int
    sessions: int
    silent_sessions: int
    models: list[str]


class UsageSummary(msgspec.Struct, frozen=True):
    """Tokens and money, group by group, and in all."""

    by: str
    groups: list[UsageGroup]
    total: UsageGroup


class PolicyText(msgspec.Struct, frozen=True):
    """Rules that decide about approvals, as TOML."""

    text: Annotated[str, Meta(max_length=1_000_000)]


class RememberedInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that the agent itself has written down, because somebody always allowed something."""

    id: str
    decision: str
    prefix: list[str]
    """Commands that begin with exactly these words …"""
    host: str | None
    """… or connections to this host."""
    stored_in: str
    """The file that it is in …"""
    line: int
    """… and the line."""


class RememberedRulesInfo(msgspec.Struct, frozen=True):
    """What the agent itself remembers as allowed or not."""

    rules: list[RememberedInfo]


class VerdictInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What a policy would say to a request of the past."""

    session_id: str | None
    seq: int | None
    at: datetime | None
    kind: str
    summary: str
    decision: str
    rule: str | None


class Verdicts(msgspec.Struct, frozen=True):
    """What rules would have said to past requests, the newest first."""

    verdicts: list[VerdictInfo]


def live(session: LiveSession) -> SessionInfo:
    return SessionInfo(
        id=session.id,
        native_id=session.native_id or None,
        is_live=True,
        title=session.title,
        state=session.state,
        harness=session.harness,
        model=session.model,
        cwd=session.cwd,
        parent_id=session.parent,
        created_at=session.created_at,
        updated_at=session.updated_at,
        archived=session.archived,
        usage=session.usage,
        last_usage=session.last_usage,
        context_window=session.context_window,
        rate_limits=session.rate_limits,
        last_seq=session.last_seq,
        turn_id=session.turn_id,
        sandbox=session.sandbox,
        approvals=session.approvals,
        error=session.error,
        steered=session.steered,
    )


_STATES: dict[str, State] = {"completed": "done", "failed": "failed", "running": "working"}


def saved(session: SavedSession) -> SessionInfo:
    return SessionInfo(
        id=session.id,
        native_id=session.id,
        is_live=False,
        title=session.title,
        state=_STATES.get(session.state, "idle"),
        harness=session.harness,
        version=session.version,
        model=session.model,
        cwd=session.project,
        parent_id=session.parent_id,
        created_at=as_time(session.started_at),
        updated_at=as_time(session.last_at),
        archived=session.archived,
        usage=session.usage,
        open_turn=session.is_open,
        running_elsewhere=session.is_elsewhere,
    )


def indexing(progress: Progress | None) -> Indexing | None:
    return None if progress is None else Indexing(*progress)


def approval(pending: PendingApproval) -> ApprovalInfo:
    return ApprovalInfo(
        id=pending.id,
        session_id=pending.session_id,
        asked_at=pending.asked_at,
        deadline_at=pending.deadline_at,
        request=pending.request,
    )
