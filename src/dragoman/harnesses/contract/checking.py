"""The checks that every session file gets: unreadable lines, a torn or unfinished last one, an empty file.

A harness adds its own in a subclass: what a row must contain, and what must be there at the end.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final, Generic, TypeVar

from dragoman.harnesses.contract.care import Fault, FaultKind
from dragoman.wire import jsonl

R = TypeVar("R")
_MOST_FAULTS: Final = 1000
"""More faults than this are not listed."""


class LineChecker(ABC, Generic[R]):
    """One file, line by line."""

    def __init__(self) -> None:
        self.session_id: str | None = None
        self.last_ordinal: int | None = None
        self._faults: list[Fault] = []
        self._number = 0
        self._torn: Fault | None = None

    @abstractmethod
    def _read(self, line: bytes) -> R | None:
        """Return what is on a line; None if it cannot be read."""

    @abstractmethod
    def _check(self, line: bytes, row: R) -> None:
        """Check one readable line."""

    @abstractmethod
    def _check_end(self) -> None:
        """Check what only the end of the file can show."""

    def receive_line(self, line: bytes) -> None:
        self._number += 1
        if self._torn is not None:  # it was not the last line
            self._note("unreadable", self._torn.what, self._torn.line)
            self._torn = None
        if jsonl.is_blank(line):
            return
        row = self._read(line)
        if row is None:
            self._unreadable(line)
            return
        if not line.endswith(b"\n"):
            self._note("newline", "the last line has no newline", broken=False)
        self._check(line, row)

    def finish(self) -> list[Fault]:
        if self._torn is not None:
            self._faults.append(self._torn)
            self._torn = None
        if not self._number:
            self._note("header", "the file is empty", 0)
        self._check_end()
        return sorted(self._faults[:_MOST_FAULTS], key=lambda fault: fault.line)

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
