"""Check a log: unreadable lines, a torn end, a missing header. A line that appears twice is no fault of a log."""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.contract.care import Fault, FaultKind, Repairer
from dragoman.harnesses.log_care.form import LogForm, read_object
from dragoman.wire import jsonl

_MOST_FAULTS: Final = 1000
"""More faults than this are not listed."""


class LogChecker:
    """One file, line by line."""

    def __init__(self, form: LogForm) -> None:
        self._form = form
        self.session_id: str | None = None
        self.last_ordinal: int | None = None
        self._faults: list[Fault] = []
        self._number = 0
        self._torn: Fault | None = None

    def receive_line(self, line: bytes) -> None:
        self._number += 1
        if self._torn is not None:  # it was not the last line
            self._note("unreadable", self._torn.what, self._torn.line)
            self._torn = None
        if jsonl.is_blank(line):
            return
        row = read_object(line)
        if row is None:
            self._unreadable(line)
            return
        if not line.endswith(b"\n"):
            self._note("newline", "the last line has no newline", broken=False)
        if self.session_id is None:
            self.session_id = self._form.session_in(row)
            if self.session_id is None and self._number == 1:
                self._note("header", "the first line does not name the session")

    def finish(self) -> list[Fault]:
        if self._torn is not None:
            self._faults.append(self._torn)
            self._torn = None
        if not self._number:
            self._note("header", "the file is empty", 0)
        return sorted(self._faults[:_MOST_FAULTS], key=lambda fault: fault.line)

    def repairer(self, named_id: str | None) -> Repairer:
        from dragoman.harnesses.log_care.repairing import LogRepairer

        return LogRepairer(self._form, self.session_id or named_id)

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
