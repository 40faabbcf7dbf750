"""A damaged chat is recognized and repaired."""

from __future__ import annotations

import json

from dragoman.harnesses.qwen import QWEN
from support.qwen import prompted, read_chat, replied, text_part


def _file() -> list[bytes]:
    rows = [
        prompted("hi", "p1"),
        {**replied(text_part("Hello."), name="a1"), "parentUuid": "p1"},
        {**prompted("more", "p2"), "parentUuid": "a1"},
        {**replied(text_part("Bye."), name="a2"), "parentUuid": "p2"},
    ]
    return [json.dumps(each).encode() + b"\n" for each in rows]


def test_a_whole_chat_has_no_faults() -> None:
    assert QWEN.care is not None
    checker = QWEN.care.make_checker()
    for line in _file():
        checker.receive_line(line)
    assert checker.finish() == []


def test_a_chat_with_a_torn_row_is_repaired_to_one_that_reads_as_before() -> None:
    assert QWEN.care is not None
    lines = _file()
    lines[1] = lines[1][:40] + b"\n"
    lines.append(lines[3])
    checker = QWEN.care.make_checker()
    for line in lines:
        checker.receive_line(line)
    faults = checker.finish()
    assert [(each.line, each.kind) for each in faults] == [
        (2, "unreadable"),
        (3, "chain"),
        (5, "repeated"),
    ]

    repairer = checker.repairer(None)
    kept = [made for line in lines for made in repairer.receive_line(line)] + repairer.finish()
    rows = [json.loads(each) for each in kept]
    assert [each["uuid"] for each in rows] == ["p1", "p2", "a2"]
    assert rows[1]["parentUuid"] == "p1"
    assert len(repairer.dropped) == 2
    assert read_chat(*rows)
