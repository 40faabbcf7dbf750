"""What the hub gives to its interfaces: sessions, open approvals, gaps; and its refusals."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, TypeAlias

import msgspec

from dragoman.errors import ProtocolError, UsageError
from dragoman.harnesses.contract.capabilities import Capabilities, Choice
from dragoman.hub.live.partial import SoFar
from dragoman.model.messages import ApprovalRequested, RateWindow
from dragoman.model.usage import Usage
from dragoman.store.live.entries import Entry, Transient

__all__ = [
    "Choice",
    "Delivery",
    "Entry",
    "Forbidden",
    "Gap",
    "HarnessInfo",
    "InProgress",
    "KeyUsedDifferently",
    "LiveSession",
    "PendingApproval",
    "SessionArchived",
    "SessionChanged",
    "SessionState",
    "SoFar",
    "Steered",
    "Transient",
    "UnfitDecision",
    "UnknownSession",
]

SessionState: TypeAlias = Literal["working", "waiting", "done", "failed", "idle"]
"""``waiting``: for a person. ``done`` and ``failed``: how the last turn ended. ``idle``: it was
interrupted, or there was none yet."""


class Steered(msgspec.Struct, frozen=True, kw_only=True):
    """Text that was sent to a running turn, and that the agent has not taken up yet."""

    id: str
    text: str
    at: datetime
    state: Literal["pending", "returned"] = "pending"
    """``returned``: the turn ended before the agent took it up."""


class LiveSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session that the hub looks after, as it now stands."""

    id: str
    harness: str
    cwd: str
    title: str | None = None
    version: str | None = None
    """The release of the harness, once it has reported it."""
    model: str | None = None
    state: SessionState = "idle"
    last_seq: int = 0
    """Of its newest entry."""
    turn_id: str | None = None
    """The turn under way, once it has a name."""
    usage: Usage | None = None
    """All tokens it has spent."""
    last_usage: Usage | None = None
    """Those of the newest answer of the model: what the context window is filled with."""
    context_window: int | None = None
    rate_limits: list[RateWindow] = []
    error: str | None = None
    """Why the last turn failed."""
    created_at: datetime
    updated_at: datetime
    parent: str | None = None
    """The session that it was branched off from …"""
    parent_seq: int | None = None
    """… after this entry; 0 if everything up to then is in its file."""
    sandbox: str = "workspace-write"
    """The harness's own access value."""
    approvals: Any = "on-request"
    """The harness's own value for when it asks."""
    archived: bool = False
    native_id: str = ""
    """The harness's id for it, to resume it."""
    was_asked: bool = False
    """Whether it has had a turn; before that the harness does not store it."""
    steered: list[Steered] = []
    """Text that was sent to the running turn and is not among its entries yet."""


class HarnessInfo(msgspec.Struct, frozen=True, kw_only=True):
    """An agent program that can be driven."""

    name: str
    title: str
    version: str | None = None
    state: str = "stopped"
    """``starting``, ``running``, ``restarting``, ``stopped`` or ``failed``."""
    problem: str | None = None
    """Why it is not there to work."""
    signed_in: bool | None = None
    needs_sign_in: bool = False
    sandboxes: tuple[str, ...] = ()
    """The values of ``access``."""
    approval_modes: tuple[str, ...] = ()
    """The values of ``asking``."""
    efforts: tuple[str, ...] = ()
    can: tuple[str, ...] = ()
    access: tuple[Choice, ...] = ()
    """How far it may reach, the usual choice first."""
    asking: tuple[Choice, ...] = ()
    """When it asks, the usual choice first; empty if the access decides that, too."""
    models: tuple[str, ...] = ()
    """Models that are known without asking it."""
    confirms_access: bool = True
    icon: str = ""
    """Path data of an SVG icon in a box of 24 by 24; empty if the agent has none."""
    sign_in_command: str = ""
    notes: tuple[str, ...] = ()

    @classmethod
    def offering(cls, offered: Capabilities, **facts: Any) -> HarnessInfo:
        """With the choices and abilities of a release."""
        return cls(
            sandboxes=tuple(choice.value for choice in offered.access),
            approval_modes=tuple(choice.value for choice in offered.asking),
            efforts=offered.efforts,
            can=tuple(sorted(offered.can)),
            access=offered.access,
            asking=offered.asking,
            models=offered.models,
            confirms_access=offered.confirms_access,
            icon=offered.icon,
            sign_in_command=offered.sign_in_command,
            notes=offered.notes,
            **facts,
        )


class PendingApproval(msgspec.Struct, frozen=True, kw_only=True):
    """Something that an agent asks and that waits for a person."""

    id: str
    session_id: str
    """The live session; the request may be of an agent that works for it."""
    request: ApprovalRequested
    asked_at: datetime
    deadline_at: datetime | None = None
    """When it will be denied; null: it waits for as long as it takes."""


class Gap(msgspec.Struct, frozen=True, kw_only=True, tag="gap"):
    """The reader was too slow: deltas after this entry are lost to it. Entries follow from the store."""

    from_seq: int


class InProgress(msgspec.Struct, frozen=True, kw_only=True, tag="begun"):
    """The unfinished texts, each from its beginning: this replaces what the reader has of them."""

    things: list[SoFar]


class SessionChanged(msgspec.Struct, frozen=True, kw_only=True, tag="session_changed"):
    """A session began, or something about it that a list shows is new."""

    session: LiveSession


Delivery: TypeAlias = Entry | Transient | Gap | InProgress
"""What a reader of a session gets."""


class UnknownSession(UsageError):
    """The hub knows no session of this name."""

    def __init__(self, session_id: str) -> None:
        super().__init__(session_id)
        self.session_id = session_id

    def __str__(self) -> str:
        return f"there is no live session {self.session_id!r}"


class SessionArchived(ProtocolError):
    """The session was archived, and the harness does not change archived sessions."""

    def __init__(self, session_id: str) -> None:
        super().__init__(session_id)
        self.session_id = session_id

    def __str__(self) -> str:
        return f"session {self.session_id} is archived: bring it back first"


class Forbidden(UsageError):
    """The directory is not one that agents may work in here."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return (
            f"{self.path} is not inside a directory that agents may work in; "
            "`dragoman serve --root` names those"
        )


class UnfitDecision(UsageError):
    """The decision does not fit the request, which stays open. Its text explains why."""


class KeyUsedDifferently(UsageError):
    """The same idempotency key came with another request."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key

    def __str__(self) -> str:
        return f"the idempotency key {self.key!r} was used for another request"
