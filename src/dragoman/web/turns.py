"""The turns of a session as marks in it: where each begins, what was asked, how it ended."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from dragoman.export.render import one_line
from dragoman.model.messages import Prompt, TurnEnded, TurnStarted
from dragoman.web.library import SavedEntry
from dragoman.web.office import Office, Stretch

_PAGE: Final = 1_000
_TITLE: Final = 120


class Mark(NamedTuple):
    seq: int
    title: str
    outcome: str


class Marks:
    """Marks while a session is read."""

    def __init__(self, session_id: str | None) -> None:
        self._session_id = session_id
        self.marks: list[Mark] = []

    def read(self, entries: Stretch) -> None:
        for entry in entries:
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
