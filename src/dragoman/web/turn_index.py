"""The turns of a session as marks in it: where each begins, what was asked, how it ended."""

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
"""How the messages begin that matter here: the others need not be decoded."""


class TurnStart(NamedTuple):
    seq: int
    title: str
    outcome: str


class TurnScan:
    """TurnScan while a session is read."""

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
    """The marks of sessions that are looked at, read on from where they were."""

    def __init__(self, service: SessionService, ranges: SessionRanges) -> None:
        self._service = service
        self._stretches = ranges
        self._known: OrderedDict[str, TurnScan] = OrderedDict()
        """Of live sessions: the entries of a saved one are other entries, and may change."""

    async def of(self, session: SessionInfo) -> list[TurnStart]:
        """Those of before the session came here, too."""
        if not session.is_live:
            if (listed := await self._service.turns(session.id)) is not None:
                return [
                    TurnStart(each.seq, each.title or "", each.outcome or "open") for each in listed
                ]
            # Nothing of it is kept: taken up again, it has the same name and other numbers.
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
