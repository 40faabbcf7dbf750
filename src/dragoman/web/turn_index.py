"""Finds the turns of a session: where each starts, its prompt, and its outcome."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from itertools import groupby
from typing import Final, NamedTuple

from dragoman.hub.hub import Entry
from dragoman.model.messages import Prompt, TurnEnded, TurnStarted
from dragoman.rendering.render import one_line
from dragoman.web.api.shapes import SessionInfo
from dragoman.web.archive_worker import SavedEntry
from dragoman.web.ranges import SessionRanges
from dragoman.web.service import SessionService

_PAGE: Final = 1_000
_TITLE: Final = 120
_KEPT: Final = 64
_WANTED: Final = tuple(
    b'{"type":"%b"' % each for each in (b"turn_started", b"prompt", b"turn_ended")
)
"""The start of each relevant message. Others are not decoded."""


class TurnStart(NamedTuple):
    seq: int
    title: str
    outcome: str


class TurnScan:
    """Collects the turns while a session is read."""

    def __init__(self, session_id: str | None) -> None:
        self._session_id = session_id
        self.marks: list[TurnStart] = []
        self.seq = 0
        """The newest entry that was read."""

    def read(self, entries: Sequence[Entry | SavedEntry]) -> None:
        for entry in entries:
            self.seq = entry.seq
            if isinstance(entry, Entry) and not entry.message_json.startswith(_WANTED):
                continue
            message = entry.message
            if message.session_id not in (None, self._session_id):
                continue
            if isinstance(message, TurnStarted):
                self.marks.append(TurnStart(entry.seq, "", "open"))
            elif isinstance(message, Prompt):
                if not self.marks or self.marks[-1].title or self.marks[-1].outcome != "open":
                    continue
                self.marks[-1] = self.marks[-1]._replace(title=one_line(message.text, _TITLE))
            elif isinstance(message, TurnEnded) and self.marks:
                self.marks[-1] = self.marks[-1]._replace(outcome=message.outcome)


class TurnMarks:
    """Caches the turns of viewed sessions, and reads only new entries."""

    def __init__(self, service: SessionService, ranges: SessionRanges) -> None:
        self._service = service
        self._stretches = ranges
        self._known: OrderedDict[str, TurnScan] = OrderedDict()
        """The turns of live sessions only: the entries of saved ones have other numbers, and may change."""

    async def of(self, session: SessionInfo) -> list[TurnStart]:
        """All turns, including those from before this server opened the session."""
        if not session.is_live:
            if (listed := await self._service.turns(session.id)) is not None:
                return [
                    TurnStart(each.seq, each.title or "", each.outcome or "open") for each in listed
                ]
            # Not cached: when resumed, the session keeps its id but its entries get other numbers.
            return await self._read(session, TurnScan(session.native_id or session.id))
        marks = self._known.get(session.id)
        if marks is None:
            marks = self._known[session.id] = TurnScan(session.native_id or session.id)
        self._known.move_to_end(session.id)
        if len(self._known) > _KEPT:
            self._known.popitem(last=False)
        earlier: list[TurnStart] = []
        told = await self._stretches.earlier(session)
        for name, said in groupby(told, key=lambda each: each.name):
            before = TurnScan(name)
            before.read([each.entry for each in said])
            earlier += before.marks
        return [*earlier, *await self._read(session, marks)]

    async def _read(self, session: SessionInfo, marks: TurnScan) -> list[TurnStart]:
        while page := await self._service.entries(session.id, after=marks.seq, limit=_PAGE):
            marks.read(page)
        return marks.marks
