"""The turns of a session as marks in it: where each begins, what was asked, how it ended."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, NamedTuple

from dragoman.crew.hub import Entry
from dragoman.export.render import one_line
from dragoman.model.messages import Prompt, TurnEnded, TurnStarted
from dragoman.web.office import Office, Stretch
from dragoman.web.shapes import SessionInfo

_PAGE: Final = 1_000
_TITLE: Final = 120
_KEPT: Final = 64
_WANTED: Final = tuple(
    b'{"type":"%b"' % each for each in (b"turn_started", b"prompt", b"turn_ended")
)
"""How the messages begin that matter here: the others need not be decoded."""


class Mark(NamedTuple):
    seq: int
    title: str
    outcome: str


class Marks:
    """Marks while a session is read."""

    def __init__(self, session_id: str | None) -> None:
        self._session_id = session_id
        self.marks: list[Mark] = []
        self.seq = 0
        """The newest entry that was read."""

    def read(self, entries: Stretch) -> None:
        for entry in entries:
            self.seq = entry.seq
            if isinstance(entry, Entry) and not entry.message_json.startswith(_WANTED):
                continue
            message = entry.message
            if message.session_id not in (None, self._session_id):
                continue
            if isinstance(message, TurnStarted):
                self.marks.append(Mark(entry.seq, "", "open"))
            elif isinstance(message, Prompt):
                if not self.marks or self.marks[-1].title or self.marks[-1].outcome != "open":
                    continue
                self.marks[-1] = self.marks[-1]._replace(title=one_line(message.text, _TITLE))
            elif isinstance(message, TurnEnded) and self.marks:
                self.marks[-1] = self.marks[-1]._replace(outcome=message.outcome)


class TurnMarks:
    """The marks of sessions that are looked at, read on from where they were."""

    def __init__(self, office: Office) -> None:
        self._office = office
        self._known: OrderedDict[str, Marks] = OrderedDict()
        """Of live sessions: the entries of a saved one are other entries, and may change."""

    async def of(self, session: SessionInfo) -> list[Mark]:
        if not session.is_live:
            listed = await self._office.turns(session.id)
            if listed is not None:
                return [Mark(each.seq, each.title or "", each.outcome or "open") for each in listed]
            marks = Marks(session.native_id or session.id)
        else:
            marks = self._known.setdefault(session.id, Marks(session.native_id or session.id))
            self._known.move_to_end(session.id)
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
        while page := await self._office.entries(session.id, after=marks.seq, limit=_PAGE):
            marks.read(page)
        return marks.marks
