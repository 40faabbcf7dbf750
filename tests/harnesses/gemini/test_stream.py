from __future__ import annotations

import json
from typing import Any

from dragoman.harnesses.gemini.stream.parser import GeminiStreamParser
from dragoman.model.messages import (
    Malformed,
    Message,
    Notice,
    Text,
    TurnEnded,
    Unknown,
)

_INIT = {"type": "init", "timestamp": "2026-11-15T22:38:02Z", "session_id": "s", "model": "m"}
_PROMPT = {"type": "message", "role": "user", "content": "go"}


def said(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": text, "delta": True}


def read(*rows: Any) -> list[Message]:
    parser = GeminiStreamParser(audit=True)
    parser.receive_lines(
        row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows
    )
    parser.receive_eof()
    return parser.messages()


def test_pieces_up_to_a_line_of_another_kind_are_one_text() -> None:
    call: dict[str, Any] = {
        "type": "tool_use",
        "tool_name": "glob",
        "tool_id": "c",
        "parameters": {},
    }
    messages = read(_INIT, _PROMPT, said("Run"), b"noise", said("ning."), call, said("Done."))

    assert [each.text for each in messages if isinstance(each, Text)] == ["Running.", "Done."]


def test_a_run_without_a_result_was_interrupted() -> None:
    (ended,) = [each for each in read(_INIT, _PROMPT) if isinstance(each, TurnEnded)]

    assert ended.outcome == "interrupted"


def test_a_recording_knows_how_the_run_ended() -> None:
    journal = [{"dir": "out", "raw": json.dumps(row)} for row in (_INIT, _PROMPT)]
    messages = read({"dir": "meta", "cmd": ["gemini"], "rc": 145}, *journal)

    (ended,) = [each for each in messages if isinstance(each, TurnEnded)]
    assert ended.outcome == "failed"
    assert ended.error is not None
    assert "HTTP 401" in ended.error.message


def test_a_result_without_a_reason_repeats_the_last_complaint() -> None:
    complaint = {"type": "error", "severity": "error", "message": "the answer was empty"}
    result: dict[str, Any] = {"type": "result", "status": "error", "stats": {}}
    messages = read(_INIT, _PROMPT, complaint, result)

    (ended,) = [each for each in messages if isinstance(each, TurnEnded)]
    assert ended.error is not None
    assert ended.error.message == "the answer was empty"
    assert [each.level for each in messages if isinstance(each, Notice)] == ["error"]


def test_what_a_recording_holds_that_is_no_line_of_the_stream_is_kept() -> None:
    messages = read(
        {"dir": "err", "raw": "Warning: no colour"},
        {"dir": "in", "raw": "<EOF>"},
        {"dir": "out", "raw": "not JSON"},
        {"dir": "out", "raw": '{"type":"novel"}'},
    )

    assert [type(each) for each in messages] == [Notice, Malformed, Unknown]
