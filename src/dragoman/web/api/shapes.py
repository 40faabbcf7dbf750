"""Request and response types of the API. Their fields are a public contract."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

from dragoman.archive.index.updating import Progress
from dragoman.archive.saved import SavedSession
from dragoman.hub.hub import HarnessInfo, LiveSession, PendingApproval, Steered
from dragoman.model.answers import Model
from dragoman.model.messages import ApprovalRequested, Message, RateWindow
from dragoman.model.usage import Usage
from dragoman.web.archive_worker import as_time

Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=200)]
Words: TypeAlias = Annotated[str, Meta(min_length=1, max_length=4_000_000)]
State: TypeAlias = Literal["working", "waiting", "done", "failed", "idle"]
Images: TypeAlias = Annotated[list[str], Meta(max_length=16)]


class Login(msgspec.Struct, frozen=True):
    """The token that ``dragoman serve`` prints."""

    token: Annotated[str, Meta(max_length=500)]


class SignedIn(msgspec.Struct, frozen=True):
    """The second secret of a login, which the page stores."""

    key: str
    """Send it as ``X-Dragoman-Key`` with each request, in addition to the cookie."""


class Harnesses(msgspec.Struct, frozen=True):
    """The agents that this server can run."""

    harnesses: list[HarnessInfo]
    """The default agent first."""


class Models(msgspec.Struct, frozen=True):
    """The models that an agent offers."""

    models: list[Model]


class StartSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session to start or resume."""

    cwd: Annotated[str, Meta(min_length=1, max_length=4096)]
    harness: Name | None = None
    """The agent to use, by the name that `GET /harnesses` lists. By default, the first one of that list,
    or the agent of the session to resume."""
    prompt: Words | None = None
    images: Images = []
    model: Name | None = None
    effort: Name | None = None
    access: Name | None = None
    """What the agent may access: a level (`read`, `write`, `full`) or one of the agent's `access` values."""
    asking: Name | None = None
    """When the agent asks for approval: one of its `asking` values."""
    sandbox: Name | None = None
    """An alias of `access`."""
    approvals: Name | None = None
    """An alias of `asking`."""
    resume: Name | None = None
    """The id of a saved session to resume."""


class RenameBody(msgspec.Struct, frozen=True):
    """A new name for a session."""

    title: Name


class StartTurnBody(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt for the agent, and settings for its turn."""

    text: Words
    images: Images = []
    model: Name | None = None
    effort: Name | None = None
    access: Name | None = None
    """As in `StartSession`. Applies from this turn on; unchanged if omitted."""
    asking: Name | None = None
    """As in `StartSession`. Applies from this turn on; unchanged if omitted."""
    sandbox: Name | None = None
    """An alias of `access`."""
    approvals: Name | None = None
    """An alias of `asking`."""


class SteerBody(msgspec.Struct, frozen=True, kw_only=True):
    """A message for the running turn."""

    text: Words
    images: Images = []


class TurnAccepted(msgspec.Struct, frozen=True):
    """The turn that was started or steered."""

    turn_id: str | None


class SessionInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A live or saved session."""

    id: str
    native_id: str | None = None
    """The session id in its own messages."""
    is_live: bool
    """Whether the session accepts prompts now. A saved session can be resumed."""
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
    """The agent's own value for its access, as in `HarnessInfo.access`."""
    approvals: Any = None
    """The agent's own value for when it asks, as in `HarnessInfo.asking`."""
    error: str | None = None
    steered: list[Steered] = []
    """Messages to the running turn that the agent has not read: pending, or returned when the turn ended."""
    open_turn: bool = False
    """For a saved session: its last turn has no end; ``updated_at`` is the time of its last message."""
    running_elsewhere: bool = False
    """For a saved session: another program is running it. It can be watched and forked."""


class Indexing(msgspec.Struct, frozen=True):
    """The progress of indexing saved sessions."""

    files: int
    all_files: int
    bytes: int
    all_bytes: int


class SessionPage(msgspec.Struct, frozen=True):
    """A page of the list of sessions."""

    sessions: list[SessionInfo]
    next: str | None
    """The ``cursor`` of the next page; null on the last one."""
    indexing: Indexing | None = None
    """Set while saved sessions are being indexed: the list may be incomplete."""


class NewestSaved(msgspec.Struct, frozen=True):
    """Saved sessions that are neither live nor archived, newest first."""

    sessions: list[SessionInfo]
    are_all: bool
    """Whether there are no older ones."""


class SavedGone(msgspec.Struct, frozen=True):
    """A session that was deleted, or that became live under another id."""

    id: str


class EntryInfo(msgspec.Struct, frozen=True):
    """A message of a session with its sequence number."""

    seq: int
    at: datetime | None
    message: Message


class EntryPage(msgspec.Struct, frozen=True):
    """A page of the entries of a session."""

    entries: list[EntryInfo]
    next: int | None
    """The ``after`` of the next page; null at the end."""


class FragmentInfo(msgspec.Struct, frozen=True):
    """An entry as HTML; empty if the entry is not displayed."""

    seq: int
    html: str


class SessionTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn of a session, and where it starts."""

    number: int
    """From 1."""
    seq: int
    """The number of its first entry; negative if it precedes the opening of the session on this server."""
    title: str
    outcome: str


class ApprovalInfo(msgspec.Struct, frozen=True, kw_only=True):
    """An approval request that waits for a person."""

    id: str
    session_id: str
    asked_at: datetime
    deadline_at: datetime | None
    request: ApprovalRequested


class Approvals(msgspec.Struct, frozen=True):
    """All open approval requests."""

    approvals: list[ApprovalInfo]


class DecisionBody(msgspec.Struct, frozen=True, kw_only=True):
    """A decision on an approval request."""

    session_id: Name
    decision: Literal["allow", "allow_for_session", "allow_always", "deny", "cancel", "answered"]
    message: Annotated[str, Meta(max_length=10_000)] | None = None
    """A message to the agent."""
    answers: dict[str, list[str]] = {}
    """For questions: the answers by the question's id or text."""
    content: dict[str, Any] | None = None
    """For elicitations: the values of the form."""


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A search hit."""

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
    """The matching ranges in the snippet."""


class Hits(msgspec.Struct, frozen=True):
    """The hits of a search, best first."""

    hits: list[Hit]
    is_ranked: bool
    indexing: Indexing | None = None
    """Set while saved sessions are being indexed: there may be more hits."""


class UsageGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens and cost of one group, such as a day or a model."""

    key: str
    usage: Usage | None
    cost: str | None
    """US dollars, as a decimal number; null if no part has a known price."""
    unpriced_tokens: int
    responses: int
    sessions: int
    silent_sessions: int
    models: list[str]


class UsageSummary(msgspec.Struct, frozen=True):
    """Tokens and cost by group and in total."""

    by: str
    groups: list[UsageGroup]
    total: UsageGroup


class PolicyText(msgspec.Struct, frozen=True):
    """Approval rules, as TOML."""

    text: Annotated[str, Meta(max_length=1_000_000)]


class RememberedInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that the agent stored when a request was always allowed."""

    id: str
    decision: str
    prefix: list[str]
    """Allows commands that start with exactly these words …"""
    host: str | None
    """… or connections to this host."""
    stored_in: str
    """The file that contains the rule …"""
    line: int
    """… and its line."""


class RememberedRulesInfo(msgspec.Struct, frozen=True):
    """The rules that the agent itself has stored."""

    rules: list[RememberedInfo]


class VerdictInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The decision of a policy on a past request."""

    session_id: str | None
    seq: int | None
    at: datetime | None
    kind: str
    summary: str
    decision: str
    rule: str | None


class Verdicts(msgspec.Struct, frozen=True):
    """The decisions of a policy on past requests, newest first."""

    verdicts: list[VerdictInfo]


def live(session: LiveSession) -> SessionInfo:
    return SessionInfo(
        id=session.id,
        native_id=session.native_id or None,
        is_live=True,
        title=session.title,
        state=session.state,
        harness=session.harness,
        version=session.version,
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
