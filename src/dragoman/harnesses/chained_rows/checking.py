"""Check a transcript: unreadable rows, rows that are there twice, and rows that follow a missing one.

Every row of a conversation names the row it follows (``parentUuid``). Programs restore a session by
walking that chain back from the last row. Where a link is missing, some stop and others guess.
"""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.chained_rows.rows import CareRow, read_row
from dragoman.harnesses.contract.care import Fault, FaultKind, Repairer
from dragoman.wire import jsonl

_MOST_FAULTS: Final = 1000
"""More faults than this are not listed."""


class TranscriptChecker:
    """One transcript, row by row. It remembers the ids of the rows, not their text."""

    def __init__(self) -> None:
        self.session_id: str | None = None
        self.last_ordinal: int | None = None
        self.ids: set[str] = set()
        """The ids of all readable rows."""
        self._faults: list[Fault] = []
        self._number = 0
        self._parents: list[tuple[int, str]] = []
        """Rows whose parent was not read before them."""
        self._torn: Fault | None = None

    def receive_line(self, line: bytes) -> None:
        self._number += 1
        if self._torn is not None:  # it was not the last line
            self._note("unreadable", self._torn.what, self._torn.line)
            self._torn = None
        if jsonl.is_blank(line):
            return
        row = read_row(line)
        if row is None:
            self._unreadable(line)
            return
        if not line.endswith(b"\n"):
            self._note("newline", "the last line has no newline", broken=False)
        self._identify(row)
        if row.id is None:
            return
        if row.id in self.ids:
            self._note("repeated", f"a second row with the id {row.id}")
            return
        if row.parent is not None and row.parent not in self.ids:
            self._parents.append((self._number, row.parent))
        self.ids.add(row.id)

    def finish(self) -> list[Fault]:
        if self._torn is not None:
            self._faults.append(self._torn)
            self._torn = None
        if not self._number:
            self._note("header", "the file is empty", 0)
        for number, parent in self._parents:
            if parent in self.ids:
                self._note("chain", "the row it follows comes later", number, broken=False)
            else:
                what = f"the row it follows, {parent}, is missing; what is before may be ignored"
                self._note("chain", what, number)
        self._parents = []
        return sorted(self._faults[:_MOST_FAULTS], key=lambda fault: fault.line)

    def repairer(self, named_id: str | None) -> Repairer:
        from dragoman.harnesses.chained_rows.repairing import TranscriptRepairer

        return TranscriptRepairer(self.ids)

    def _identify(self, row: CareRow) -> None:
        if self.session_id is None:
            agent = row.agentId if row.isSidechain is True else None
            named = agent or row.sessionId
            self.session_id = named if isinstance(named, str) and named else None

    def _note(
        self, kind: FaultKind, what: str, line: int | None = None, *, broken: bool = True
    ) -> None:
        self._faults.append(Fault(self._number if line is None else line, kind, what, broken))

    def _unreadable(self, line: bytes) -> None:
        problem = jsonl.diagnose(line)
        if b"\0" in line:
            count = line.count(b"\0")
            bytes_ = f"{count} NUL byte{'s' if count > 1 else ''}"
            self._note("nul", f"{bytes_}: data that never reached the disk")
        elif not line.endswith(b"\n"):
            what = f"the last line is torn ({problem})"
            self._torn = Fault(self._number, "torn", what, is_at_end=True)
        else:
            self._note("unreadable", problem)
