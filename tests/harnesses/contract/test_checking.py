"""What every session file is checked for, whatever its rows mean."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.harnesses.contract.checking import LineChecker


class _Numbers(LineChecker[int]):
    """Each line is a number, larger than the one before."""

    def __init__(self) -> None:
        super().__init__()
        self.newest = 0

    def _read(self, line: bytes) -> int | None:
        try:
            value: Any = json.loads(line)
        except ValueError:
            return None
        return value if isinstance(value, int) else None

    def _check(self, line: bytes, row: int) -> None:
        if row <= self.newest:
            self._note("ordinal", f"{row} after {self.newest}")
        self.newest = row

    def _check_end(self) -> None:
        if self._number and not self.newest:
            self._note("header", "no numbers", 0)


@pytest.mark.parametrize(
    ("lines", "faults"),
    [
        ([b"1\n", b"\n", b"2\n"], []),
        ([], [(0, "header", True)]),
        ([b"x\n"], [(0, "header", True), (1, "unreadable", True)]),
        ([b"2\n", b"1\n"], [(2, "ordinal", True)]),
        ([b"1\n", b"2"], [(2, "newline", False)]),
        ([b"1\n", b'{"a'], [(2, "torn", True)]),
        ([b"1\n", b'{"a', b"2\n"], [(2, "unreadable", True)]),
        ([b"1\n", b"\0\0\n"], [(2, "nul", True)]),
    ],
)
def test_faults_are_found_in_the_order_of_their_lines(
    lines: list[bytes], faults: list[tuple[int, str, bool]]
) -> None:
    checker = _Numbers()
    for line in lines:
        checker.receive_line(line)

    assert [(each.line, each.kind, each.is_broken) for each in checker.finish()] == faults
