"""Check a log: unreadable lines, a torn end, a missing header. A line that appears twice is no fault of a log."""

from __future__ import annotations

from typing import Any

from dragoman.harnesses.contract.care import Repairer
from dragoman.harnesses.contract.checking import LineChecker
from dragoman.harnesses.log_care.form import LogForm, read_object


class LogChecker(LineChecker[dict[str, Any]]):
    """One file, line by line."""

    def __init__(self, form: LogForm) -> None:
        super().__init__()
        self._form = form

    def _read(self, line: bytes) -> dict[str, Any] | None:
        return read_object(line)

    def _check(self, line: bytes, row: dict[str, Any]) -> None:
        if self.session_id is None:
            self.session_id = self._form.session_in(row)
            if self.session_id is None and self._number == 1:
                self._note("header", "the first line does not name the session")

    def _check_end(self) -> None:
        """A log may stop anywhere."""

    def repairer(self, named_id: str | None) -> Repairer:
        from dragoman.harnesses.log_care.repairing import LogRepairer

        return LogRepairer(self._form, self.session_id or named_id)
