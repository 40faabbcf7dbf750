"""Repair a transcript: the lines of the old file in, those of a new one out.

Readable rows are kept byte for byte, except for the parent of a row that follows a missing one: it
then follows the row before it in the same conversation, so that the chain is whole again.
"""

from __future__ import annotations

from collections.abc import Iterable

from dragoman.harnesses.chained_rows.rows import following, read_row, salvage
from dragoman.harnesses.contract.care import Dropped, RepairAction
from dragoman.wire import jsonl


class TranscriptRepairer:
    """One transcript that a checker has read to its end."""

    def __init__(self, ids: Iterable[str]) -> None:
        self._ids = set(ids)
        """All ids that the new file will have: those of readable rows, and of rows found in damaged lines."""
        self._kept: set[str] = set()
        self._last: dict[str, str] = {}
        """The last row of each conversation."""
        self._number = 0
        self.actions: list[RepairAction] = []
        self.dropped: list[Dropped] = []

    def receive_line(self, line: bytes) -> list[bytes]:
        self._number += 1
        if jsonl.is_blank(line):
            return []
        if read_row(line) is not None:
            return self._keep(line.rstrip(b"\r\n"))
        readable = line.decode("utf-8", "replace").encode()
        if readable != line and read_row(readable) is not None:
            self._drop(line.rstrip(b"\r\n"))
            self._did("replaced bytes that are not text; the original row was dropped")
            return self._keep(readable.rstrip(b"\r\n"))
        out: list[bytes] = []
        for piece in salvage(line):
            if piece.row is None:
                self._drop(piece.raw)
                self._did(f"{len(piece.raw)} unreadable bytes were dropped")
            else:
                self._did("found a whole row on a damaged line")
                out += self._keep(piece.row)
        return out

    def finish(self) -> list[bytes]:
        return []

    def _keep(self, line: bytes) -> list[bytes]:
        row = read_row(line)
        assert row is not None
        if row.id is None:
            return [line]
        if row.id in self._kept:
            self.dropped.append(Dropped(self._number, f"a second row with the id {row.id}", line))
            self._did("dropped a row that was there twice")
            return []
        if row.parent is not None and row.parent not in self._ids and row.parent not in self._kept:
            before = self._last.get(row.chain)
            line = following(line, before)
            self._did(f"the row now follows {before or 'no other row'}; {row.parent} is missing")
        self._kept.add(row.id)
        self._last[row.chain] = row.id
        return [line]

    def _drop(self, raw: bytes) -> None:
        self.dropped.append(Dropped(self._number, jsonl.diagnose(raw), raw))

    def _did(self, what: str) -> None:
        self.actions.append(RepairAction(self._number, what))
