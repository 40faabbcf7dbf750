"""What the parsers of the three dialects share: wrappers of recordings, and the end of a stream."""

from __future__ import annotations

from datetime import datetime

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.parsing import StreamParser
from dragoman.harnesses.contract.reading import Ending
from dragoman.harnesses.copilot.events.reader import EventReader
from dragoman.harnesses.copilot.events.shapes import decode_event
from dragoman.wire import jsonl
from dragoman.wire.directions import ASIDE, ERRORS, unwrap
from dragoman.wire.envelope import time_on

RECORDED = "journal: how it was recorded"


class CopilotEventsParser(StreamParser):
    """A file of events: one session with its sub-agents."""

    def __init__(self, *, only: frozenset[str] | None = None, audit: bool = False) -> None:
        super().__init__(only=only, audit=audit)
        self.reader = EventReader(self._out)

    def receive_time(self, at: datetime) -> None:
        """The lines to come arrive at this time."""
        self._out.at = at

    def _read(self, line: bytes) -> None:
        inner, sent, way = unwrap(line)
        if not way:
            self._read_own(line)
            return
        if (at := time_on(line)) is not None:
            self._out.at = at
        assembler = self._speaker()
        if way in ASIDE:
            self._read_aside(inner)
            assembler.duplicate(RECORDED)
        elif way in ERRORS:
            text = inner.decode(errors="replace").strip()
            assembler.notice("stderr", "warning", text)
        elif sent:
            self._read_sent(inner)
        else:
            self._read_inside(inner)

    def _read_inside(self, line: bytes) -> None:
        """A line out of a wrapper: what cannot be read is kept without it."""
        try:
            self._read_own(line)
        except jsonl.UNREADABLE:
            try:
                value = jsonl.loads(line)
            except jsonl.NotJson:
                self._malformed(line)
            else:
                self._odd(line, value)

    def _read_own(self, line: bytes) -> None:
        """A line of the dialect itself."""
        event = decode_event(line)
        if not self.reader.report(event):
            self._unknown(line, event.type)

    def _read_sent(self, line: bytes) -> None:
        """A line that the program was sent."""
        self._speaker().duplicate("journal: the input")

    def _read_aside(self, line: bytes) -> None:
        """A row in which a recording describes itself."""

    def _finish(self, ending: Ending) -> None:
        for session in self.reader.all():
            session.close_turn(may_go_on=ending == "left")

    def _speaker(self) -> SessionAssembler:
        return self.reader.main.assembler
