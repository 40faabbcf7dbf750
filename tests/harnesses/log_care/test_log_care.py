"""Logs are checked and repaired, whichever harness keeps them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from dragoman.harnesses.log_care.checking import LogChecker
from dragoman.harnesses.log_care.form import LogForm, read_object


def _session_in(row: dict[str, Any]) -> str | None:
    return row.get("session")


def _header(name: str) -> dict[str, Any]:
    return {"session": name}


_FORM = LogForm(_session_in, _header, re.compile(r'\{"(?:session|n)"'))
_HEADER, _ROW = b'{"session":"s"}\n', b'{"n":1}\n'


def _checked(*lines: bytes) -> LogChecker:
    checker = LogChecker(_FORM)
    for line in lines:
        checker.receive_line(line)
    return checker


@pytest.mark.parametrize(
    ("lines", "faults"),
    [
        ([_HEADER, _ROW, _ROW, b"\n"], []),
        ([], [(0, "header")]),
        ([_ROW], [(1, "header")]),
        ([_HEADER, b"[1]\n", _ROW], [(2, "unreadable")]),
        ([_HEADER, b'{"n":\n', _ROW], [(2, "unreadable")]),
        ([_HEADER, b"\0\0\n"], [(2, "nul")]),
        ([_HEADER, b'{"n":'], [(2, "torn")]),
        ([_HEADER, b'{"n":1}'], [(2, "newline")]),
    ],
)
def test_faults_are_found(lines: list[bytes], faults: list[tuple[int, str]]) -> None:
    assert [(each.line, each.kind) for each in _checked(*lines).finish()] == faults


def test_a_repaired_log_has_a_header_and_every_whole_row() -> None:
    lines = [b'{"n":1}{"n":', b'2}{"n":3}\n', b"\0\0" + _ROW]
    repairer = _checked(*lines).repairer("named")
    out = [row for line in lines for row in repairer.receive_line(line)] + repairer.finish()

    assert json.loads(out[0]) == {"session": "named"}
    assert out[1:] == [b'{"n":1}', b'{"n":3}', b'{"n":1}']
    assert [each.raw for each in repairer.dropped] == [b'{"n":', b"2}"]
    assert repairer.actions


def test_only_objects_are_rows() -> None:
    assert read_object(b'{"a":1}') == {"a": 1}
    assert read_object(b"[1]") is None
    assert read_object(b"\xff") is None
