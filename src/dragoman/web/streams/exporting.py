"""Encodes a session's entries as events in an export format, for one reader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from dragoman.export import ai_sdk
from dragoman.hub.hub import Hub, LiveSession
from dragoman.model.messages import Message, TurnEnded, TurnStarted
from dragoman.reading.mapper import make_exporter
from dragoman.web.streams import sse

_TEXTS: Final = ("text", "markdown", "html", "json")
"""Formats that are not line-based."""
_ONE_TURN: Final = ("ai-sdk", "ag-ui")
_BACK: Final = 200


class Heard(Protocol):
    @property
    def message(self) -> Message: ...


class ExportedEvents:
    """Encodes items with ``encode``; ``is_over`` becomes true when the format has reached its end."""

    def __init__(self, to: str, *names: str) -> None:
        """``names`` are the ids of the session in its messages; other ids belong to sub-agents."""
        self._exporter, _ = make_exporter(to, include=("deltas",))
        self._is_text = to in _TEXTS
        self._is_turn = to in _ONE_TURN
        self._done = ai_sdk.DONE if to == "ai-sdk" else b""
        self._names = (None, *names)
        self.is_over = False

    def encode(self, heard: Sequence[Heard | None]) -> bytes:
        """The events for these items; None is a heartbeat."""
        return b"".join(map(self._events, heard))

    def finish(self) -> bytes:
        left = b"" if self.is_over else self._framed(self._exporter.finish(), None)
        return left + (sse.frame(self._done) if self._done else b"")

    def _events(self, heard: Heard | None) -> bytes:
        if heard is None:
            return sse.HEARTBEAT
        if self.is_over:
            return b""
        message = heard.message
        events = self._framed(self._exporter.export([message]), getattr(heard, "seq", None))
        if self._is_turn and isinstance(message, TurnEnded):
            # The end of a sub-agent's turn does not end ours.
            self.is_over = message.session_id in self._names
        return events

    def _framed(self, written: bytes, seq: int | None) -> bytes:
        if not written:
            return b""
        if self._is_text:
            return sse.text_frame(written, event_id=seq)
        lines = written.removesuffix(b"\n").split(b"\n")
        frames = [sse.frame(line) for line in lines[:-1]]
        return b"".join([*frames, sse.frame(lines[-1], event_id=seq)])


def caught_up(hub: Hub, session: LiveSession, to: str, after: int) -> ExportedEvents:
    """Encode only what follows ``after``, with the state of the whole turn: a chat reconnects in its middle."""
    names = session.id, session.native_id
    events = ExportedEvents(to, *names)
    seq = newest_turn(hub, session, after) if to in _ONE_TURN else after
    while seq < after and (
        page := hub.entries(session.id, after=seq, limit=min(_BACK, after - seq))
    ):
        events.encode(page)
        seq = page[-1].seq
    return events if not events.is_over else ExportedEvents(to, *names)


def newest_turn(hub: Hub, session: LiveSession, upto: int | None = None) -> int:
    """The entry before the newest turn."""
    seq = min(session.last_seq, session.last_seq if upto is None else upto) + 1
    while seq > 1:
        page = hub.before(session.id, seq=seq, limit=_BACK)
        for entry in reversed(page):
            message = entry.message
            if isinstance(message, TurnStarted) and message.session_id in (
                session.native_id,
                session.id,
                None,
            ):
                return entry.seq - 1
        if not page:
            break
        seq = page[0].seq
    return 0
