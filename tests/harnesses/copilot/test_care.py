from __future__ import annotations

import json

from dragoman.harnesses.contract.care import Checker
from dragoman.harnesses.copilot import COPILOT

_START = b'{"type":"session.start","data":{"sessionId":"s-1"},"id":"a","timestamp":"t","parentId":null}\n'
_ROW = b'{"type":"user.message","data":{"content":"go"},"id":"b","timestamp":"t","parentId":"a"}\n'


def _checked(*lines: bytes) -> Checker:
    assert COPILOT.care is not None
    checker = COPILOT.care.make_checker()
    for line in lines:
        checker.receive_line(line)
    return checker


def test_a_sound_file_has_no_faults_and_names_its_session() -> None:
    checker = _checked(_START, _ROW)

    assert checker.finish() == []
    assert checker.session_id == "s-1"


def test_damage_is_found_and_repaired() -> None:
    lines = [_START, _ROW[:30] + _ROW, _ROW[:40]]
    checker = _checked(*lines)
    assert [(each.line, each.kind) for each in checker.finish()] == [(2, "unreadable"), (3, "torn")]

    repairer = checker.repairer(None)
    out = [row for line in lines for row in repairer.receive_line(line)]
    assert out == [_START[:-1], _ROW[:-1]]
    assert [each.raw for each in repairer.dropped] == [_ROW[:30], _ROW[:40]]


def test_a_missing_beginning_is_written() -> None:
    repairer = _checked(_ROW).repairer("s-2")
    out = repairer.receive_line(_ROW)

    assert json.loads(out[0])["data"]["sessionId"] == "s-2"
    assert COPILOT.sniff([out[0]]) == "copilot-events"


def test_a_file_lies_in_the_folder_of_its_session() -> None:
    assert COPILOT.care is not None

    assert COPILOT.care.place("x.jsonl", "s-1") == "session-state/s-1/events.jsonl"
    assert COPILOT.care.settings(b"") == {}
