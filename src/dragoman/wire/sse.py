"""Server-sent events to lines: the data of each event is one line, whatever chunks it arrives in.

Names, ids and comments are left out. Data of several lines is joined with spaces: it is JSON, in which no newline
means anything.
"""

from __future__ import annotations

from typing import Final

from dragoman.wire.lines import DEFAULT_MAX_LINE, LineSplitter, LongLine

_FIELD: Final = b"data"
_MOST_LINES: Final = 1000
"""Of one event. More than that is no event of any program, and is given out in parts."""


class EventSplitter:
    """Splits one stream of events."""

    def __init__(self, max_line: int | None = DEFAULT_MAX_LINE) -> None:
        self._lines = LineSplitter(max_line)
        self._limit = max_line
        self._data: list[bytes] = []
        self._held = 0

    def receive(self, chunk: bytes) -> list[bytes | LongLine]:
        """The data of the events that ``chunk`` completes, in order."""
        events: list[bytes | LongLine] = []
        for line in self._lines.receive(chunk):
            if isinstance(line, LongLine):
                events.append(line)
                continue
            line = line.rstrip(b"\r")
            if not line:
                self._end_event(events)
                continue
            name, _, value = line.partition(b":")
            if name == _FIELD:
                value = value.removeprefix(b" ")
                if self._held and self._is_too_much(len(value)):
                    self._end_event(events)
                self._data.append(value)
                self._held += len(value)
        return events

    def _is_too_much(self, more: int) -> bool:
        too_long = self._limit is not None and self._held + more > self._limit
        return too_long or len(self._data) >= _MOST_LINES

    def _end_event(self, events: list[bytes | LongLine]) -> None:
        if self._data:
            events.append(b" ".join(self._data))
            self._data, self._held = [], 0
