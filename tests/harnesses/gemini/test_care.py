from __future__ import annotations

import json

from dragoman.harnesses.gemini import GEMINI

_HEADER = b'{"sessionId":"0f0dc369-aaf0","projectHash":"p","startTime":"t","kind":"main"}\n'
_ROW = b'{"id":"u","timestamp":"t","type":"user","content":[{"text":"go"}]}\n'


def check(*lines: bytes) -> list[tuple[int, str, bool]]:
    assert GEMINI.care is not None
    checker = GEMINI.care.make_checker()
    for line in lines:
        checker.receive_line(line)
    return [(fault.line, fault.kind, fault.is_broken) for fault in checker.finish()]


def repair(*lines: bytes, named: str | None = None) -> tuple[list[bytes], list[str], list[bytes]]:
    assert GEMINI.care is not None
    checker = GEMINI.care.make_checker()
    for line in lines:
        checker.receive_line(line)
    checker.finish()
    repairer = checker.repairer(named)
    out = [row for line in lines for row in repairer.receive_line(line)] + repairer.finish()
    return out, [action.what for action in repairer.actions], [d.raw for d in repairer.dropped]


def test_a_log_may_repeat_itself() -> None:
    assert check(_HEADER, _ROW, _ROW, b"\n") == []


def test_faults_are_found() -> None:
    assert check() == [(0, "header", True)]
    assert check(_ROW) == [(1, "header", True)]
    assert check(_HEADER, b"{oh\n", _ROW) == [(2, "unreadable", True)]
    assert check(_HEADER, b"\0\0\n") == [(2, "nul", True)]
    assert check(_HEADER, _ROW[:20]) == [(2, "torn", True)]
    assert check(_HEADER, _ROW[:-1]) == [(2, "newline", False)]


def test_whole_lines_are_found_on_a_damaged_one() -> None:
    torn = _ROW[:20] + _ROW

    out, did, dropped = repair(_HEADER, torn)

    assert out == [_HEADER[:-1], _ROW[:-1]]
    assert len(did) == 2
    assert dropped == [_ROW[:20]]


def test_a_missing_header_is_added() -> None:
    out, did, _ = repair(_ROW, named="0f0dc369")

    assert json.loads(out[0])["sessionId"] == "0f0dc369"
    assert out[1:] == [_ROW[:-1]]
    assert did == ["added the missing header"]


def test_a_chat_lies_where_the_program_lists_it() -> None:
    assert GEMINI.care is not None
    place = GEMINI.care.place

    assert place("odd.jsonl", "0f0dc369-aaf0").endswith("session-2026-01-01T00-00-0f0dc369.jsonl")
    own = "session-2026-11-19T02-10-0f0dc369.jsonl"
    assert place(own, "0f0dc369-aaf0") == f"tmp/repaired/chats/{own}"
    assert GEMINI.care.settings(b"") == {}
