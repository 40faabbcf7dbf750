"""One live session: the state that its messages add up to, its readers, and the agent's session behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from weakref import WeakSet

import msgspec

from dragoman.drive.agent import Agent
from dragoman.drive.session import Session
from dragoman.hub.live.partial import Partial
from dragoman.hub.live.readers import Reader
from dragoman.hub.live.steering import accepted, returned
from dragoman.hub.live.unfinished import Unfinished
from dragoman.hub.shapes import Entry, LiveSession, SessionState, Transient
from dragoman.model.messages import (
    Delta,
    Message,
    Prompt,
    RateLimits,
    SessionStarted,
    TurnEnded,
    TurnStarted,
    UsageReport,
)

_TITLE: Final = 80
_RESTS: Final[dict[str, SessionState]] = {
    "completed": "done",
    "failed": "failed",
    "interrupted": "idle",
}
_OURS_KEPT: Final = 32


class LiveState:
    """Changes with every message; :attr:`info` is its current state, as a value, and :attr:`shown` what may
    be published. There may be very many, nearly all at rest: each must be small."""

    __slots__ = (
        "_info",
        "_opening",
        "_readers",
        "_stored",
        "agent",
        "asked",
        "connection",
        "driver",
        "id",
        "is_starting",
        "is_under_way",
        "members",
        "native_id",
        "number",
        "ours",
        "partial",
        "rest",
        "seq",
        "told_seq",
        "unfinished",
        "was_cut",
    )

    def __init__(self, number: int, info: LiveSession, *, seq: int = 0) -> None:
        self.number = number
        self.id = info.id
        # What was sent to a session that is gone is in no process of ours.
        info = msgspec.structs.replace(info, steered=returned(info.steered))
        self._info = info
        self._stored = info
        self.seq = seq
        """Of the newest entry, be it on its way to the store."""
        self.told_seq = seq
        """Of the newest entry that is in the store."""
        self.native_id = info.native_id
        self.members: set[str] = {info.native_id}
        """Every id that the harness uses for it, or for agents that work for it."""
        self.rest: SessionState = info.state if info.state not in ("working", "waiting") else "idle"
        """Its state when no turn is under way."""
        self.connection = 0
        """The connection that its newest message came from."""
        self.was_cut = info.state in ("working", "waiting")
        """Whether a turn was running when it was last stored."""
        self.is_starting = False
        self.is_under_way = False
        self.asked = 0
        """How many approvals wait for a person."""
        self.driver: Session | None = None
        self.agent: Agent | None = None
        """Where ``driver`` is a session of."""
        self._opening: asyncio.Lock | None = None
        self.unfinished = Unfinished()
        self.partial = Partial()
        """The unfinished texts, as far as readers have been given them."""
        self._readers: WeakSet[Reader] | None = None
        self.ours: tuple[Message, ...] = ()
        """Recent notices of the driver itself."""

    @property
    def state(self) -> SessionState:
        if self.asked:
            return "waiting"
        return "working" if self.is_under_way or self.is_starting else self.rest

    @property
    def info(self) -> LiveSession:
        return msgspec.structs.replace(
            self._info, state=self.state, last_seq=self.told_seq, native_id=self.native_id
        )

    @property
    def shown(self) -> LiveSession:
        """Its state as far as it is stored: never ahead of its entries."""
        if self._stored.last_seq != self.told_seq:
            self._stored = msgspec.structs.replace(self._stored, last_seq=self.told_seq)
        return self._stored

    def was_stored(self, info: LiveSession) -> None:
        """Remember the state as last stored."""
        self._stored = info

    @property
    def opening(self) -> asyncio.Lock:
        """Held while it is opened on the agent, or closed there."""
        if self._opening is None:
            self._opening = asyncio.Lock()
        return self._opening

    @property
    def readers(self) -> list[Reader]:
        return list(self._readers) if self._readers else []

    def listen(self, reader: Reader) -> None:
        """Add a reader of its changes."""
        if self._readers is None:
            self._readers = WeakSet()
        self._readers.add(reader)

    def note_own(self, message: Message) -> None:
        self.ours = (*self.ours[1 - _OURS_KEPT :], message)

    def come_to_rest(self) -> None:
        """A turn is over: drop what was needed only during it, unless another turn runs."""
        if not (self.is_under_way or self.is_starting):
            self.ours = ()

    def set(self, **facts: Any) -> None:
        self._info = msgspec.structs.replace(self._info, **facts)

    def name(self, native_id: str) -> None:
        """Change the id that the harness uses for it."""
        self.native_id = native_id
        self.members.add(native_id)

    def add(self, message: Message, at: datetime, *, is_only_sent: bool = False) -> bool:
        """Learn from a message that becomes an entry; whether a list would show the difference.

        A prompt that ``is_only_sent`` comes from our own request: the agent never repeated it.
        """
        own = message.session_id == self.native_id
        was_taken_up = (
            own and not is_only_sent and isinstance(message, Prompt) and self._take_up(message.text)
        )
        match message:
            case SessionStarted() if own:
                info = self._info
                self.set(model=message.model or info.model, version=message.version or info.version)
            case TurnStarted() if own:
                self.is_under_way, self.is_starting = True, False
                self.set(turn_id=message.turn_id, error=None, was_asked=True)
            case TurnEnded() if own:
                self.is_under_way = self.is_starting = False
                self.rest = _RESTS[message.outcome]
                self.set(steered=returned(self._info.steered))
                self.set(turn_id=None, error=message.error.message if message.error else None)
            case Prompt() if own and self._info.title is None:
                self.set(title=_title(message.text))
            case UsageReport() if own:
                total, last = message.total or self._info.usage, message.last
                window = message.context_window or self._info.context_window
                self.set(usage=total, last_usage=last, context_window=window)
            case RateLimits() if message.windows:  # an empty report changes nothing
                self.set(rate_limits=message.windows)
            case _:
                return was_taken_up
        self.set(updated_at=at)
        return True

    def _take_up(self, text: str) -> bool:
        """The agent has taken something up: whether it was sent to a running turn."""
        left = accepted(self._info.steered, text)
        is_one = len(left) < len(self._info.steered)
        self.set(steered=left)
        return is_one

    def deliver(self, told: Sequence[Entry | Transient]) -> None:
        """These are in the store, or pass."""
        for each in told:
            if type(each) is Entry:
                self.told_seq = each.seq
                self.partial.whole(each.message)
            elif isinstance(each.message, Delta):
                self.partial.add(each.message)
        for reader in self.readers:
            reader.put(told)


def _title(text: str) -> str | None:
    words = " ".join(text.split())
    return (words if len(words) <= _TITLE else words[: _TITLE - 1] + "…") or None
