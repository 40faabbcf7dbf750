"""Mark turns without an end in the formats people read: "open, last activity 3 h ago".

Formats for programs get no such notice: there, an open turn simply has no end.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from dragoman.export.base import Exporter
from dragoman.model.messages import Message, Notice, TurnEnded, TurnStarted
from dragoman.reading.ages import since

FORMATS: Final = frozenset(("text", "markdown", "html"))
"""The formats for people."""


class ClosingExporter:
    """Wraps an exporter and adds a notice at the end if the last turn is open."""

    def __init__(self, exporter: Exporter) -> None:
        self.exporter = exporter
        self.wants_lines = exporter.wants_lines
        self._open: dict[str | None, str | None] = {}
        self._last: Message | None = None

    def export(self, messages: Iterable[Message]) -> bytes:
        return self.exporter.export(map(self._seen, messages))

    def _seen(self, message: Message) -> Message:
        if isinstance(message, TurnStarted):
            self._open[message.session_id] = message.turn_id
        elif isinstance(message, TurnEnded):
            self._open.pop(message.session_id, None)
        if message.at is not None or self._last is None:
            self._last = message
        return message

    def finish(self) -> bytes:
        last = self._last
        said = b""
        if last is not None and last.session_id in self._open:
            when = (
                f", last activity {since(last.at.timestamp())} ({last.at:%Y-%m-%d %H:%M} UTC)"
                if last.at
                else ""
            )
            note = Notice(
                session_id=last.session_id,
                turn_id=self._open[last.session_id],
                at=last.at,
                line=last.line,
                level="info",
                text=f"this turn is open{when}",
            )
            said = self.exporter.export([note])
        return said + self.exporter.finish()
