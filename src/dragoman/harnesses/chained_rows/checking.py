"""Check a transcript: unreadable rows, rows that are there twice, and rows that follow a missing one.

Every row of a conversation names the row it follows (``parentUuid``). Programs restore a session by
walking that chain back from the last row. Where a link is missing, some stop and others guess.
"""

from __future__ import annotations

from dragoman.harnesses.chained_rows.rows import CareRow, read_row
from dragoman.harnesses.contract.care import Repairer
from dragoman.harnesses.contract.checking import LineChecker


class TranscriptChecker(LineChecker[CareRow]):
    """One transcript, row by row. It remembers the ids of the rows, not their text."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        """The ids of all readable rows."""
        self._parents: list[tuple[int, str]] = []
        """Rows whose parent was not read before them."""

    def _read(self, line: bytes) -> CareRow | None:
        return read_row(line)

    def _check(self, line: bytes, row: CareRow) -> None:
        self._identify(row)
        if row.id is None:
            return
        if row.id in self.ids:
            self._note("repeated", f"a second row with the id {row.id}")
            return
        if row.parent is not None and row.parent not in self.ids:
            self._parents.append((self._number, row.parent))
        self.ids.add(row.id)

    def _check_end(self) -> None:
        for number, parent in self._parents:
            if parent in self.ids:
                self._note("chain", "the row it follows comes later", number, broken=False)
            else:
                what = f"the row it follows, {parent}, is missing; what is before may be ignored"
                self._note("chain", what, number)
        self._parents = []

    def repairer(self, named_id: str | None) -> Repairer:
        from dragoman.harnesses.chained_rows.repairing import TranscriptRepairer

        return TranscriptRepairer(self.ids)

    def _identify(self, row: CareRow) -> None:
        if self.session_id is None:
            agent = row.agentId if row.isSidechain is True else None
            named = agent or row.sessionId
            self.session_id = named if isinstance(named, str) and named else None
