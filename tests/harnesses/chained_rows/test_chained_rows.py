"""Rows that name the row they follow: what is wrong with a file of them, and what a repair keeps."""

from __future__ import annotations

import json
from typing import Any

from dragoman.harnesses.chained_rows.checking import TranscriptChecker
from dragoman.harnesses.chained_rows.repairing import TranscriptRepairer
from dragoman.harnesses.chained_rows.rows import following, read_row, salvage


def _row(name: str, parent: str | None, **more: Any) -> bytes:
    row = {"parentUuid": parent, "uuid": name, "sessionId": "s", "type": "user", **more}
    return json.dumps(row).encode() + b"\n"


def test_a_link_that_is_missing_or_comes_later_is_a_fault() -> None:
    checker = TranscriptChecker()
    for line in (_row("a", None), _row("c", "b"), _row("b", "a"), _row("d", "nowhere")):
        checker.receive_line(line)

    faults = [(each.line, each.kind, each.is_broken) for each in checker.finish()]
    assert faults == [(2, "chain", False), (4, "chain", True)]
    assert checker.session_id == "s"


def test_a_repair_links_a_row_to_the_one_before_it_in_its_own_conversation() -> None:
    repairer = TranscriptRepairer({"a", "x", "d"})
    side = {"isSidechain": True, "agentId": "g"}
    lines = [_row("a", None), _row("x", None, **side), _row("d", "nowhere")]
    kept = [json.loads(made) for line in lines for made in repairer.receive_line(line)]

    assert [each["parentUuid"] for each in kept] == [None, None, "a"]


def test_whole_rows_are_found_on_a_damaged_line() -> None:
    whole = _row("a", None).strip()
    pieces = [*salvage(whole[:20] + whole + b"\0\0" + b"rest\n")]

    assert [each.row for each in pieces] == [None, whole, None]
    assert read_row(b"[1]") is None
    assert b'"parentUuid":"z"' in following(whole, "z").replace(b": ", b":")
