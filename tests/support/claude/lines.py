"""Lines of Claude Code, as short as they can be."""

from __future__ import annotations

import json
from typing import Any

from dragoman.harnesses.claude.stream.parser import StreamJsonParser
from dragoman.harnesses.claude.transcript.parser import TranscriptParser
from dragoman.harnesses.contract.reading import Ending
from dragoman.model.messages import Message

SID = "11111111-2222-4333-8444-555555555555"
USAGE = {
    "input_tokens": 10,
    "cache_creation_input_tokens": 20,
    "cache_read_input_tokens": 30,
    "output_tokens": 40,
    "cache_creation": {"ephemeral_5m_input_tokens": 15, "ephemeral_1h_input_tokens": 5},
}


def init(**more: Any) -> dict[str, Any]:
    return {
        "type": "system",
        "subtype": "init",
        "cwd": "/w",
        "session_id": SID,
        "model": "m",
        "permissionMode": "default",
        "claude_code_version": "2.1.325",
        **more,
    }


def assistant(message_id: str, *blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    usage = {**USAGE, "output_tokens": 1}
    message = {"id": message_id, "model": "m", "content": [*blocks], "usage": usage}
    return {"type": "assistant", "message": message, "session_id": SID, **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(call_id: str, name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def output(call_id: str, content: Any, *, is_error: bool = False) -> dict[str, Any]:
    return {
        "type": "tool_result",
        "tool_use_id": call_id,
        "content": content,
        "is_error": is_error,
    }


def user(content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": "user", "content": content}
    return {"type": "user", "message": message, "session_id": SID, **more}


def result(**more: Any) -> dict[str, Any]:
    return {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "result": "",
        "session_id": SID,
        "usage": USAGE,
        "total_cost_usd": 0.5,
        **more,
    }


def sent(line: dict[str, Any]) -> dict[str, Any]:
    return {"dir": "send", "msg": line}


def received(line: dict[str, Any]) -> dict[str, Any]:
    return {"dir": "recv", "msg": line}


def read_stream(*lines: dict[str, Any]) -> list[Message]:
    parser = StreamJsonParser()
    parser.receive_lines(json.dumps(line).encode() for line in lines)
    parser.receive_eof()
    return parser.messages()


def row(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "sessionId": SID, "cwd": "/w", "version": "2.1.325", **more}


def prompt_row(words: str, **more: Any) -> dict[str, Any]:
    return row("user", message={"role": "user", "content": words}, **more)


def results_row(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return row("user", message={"role": "user", "content": [*blocks]}, **more)


def assistant_row(
    message_id: str, *blocks: dict[str, Any], stop: str | None = "end_turn", **more: Any
) -> dict[str, Any]:
    message = {
        "id": message_id,
        "model": "m",
        "content": [*blocks],
        "stop_reason": stop,
        "usage": USAGE,
    }
    return row("assistant", message=message, **more)


def read_rows(*rows: dict[str, Any], ending: Ending = "left") -> list[Message]:
    parser = TranscriptParser()
    parser.receive_lines(json.dumps(each).encode() for each in rows)
    parser.receive_eof(ending)
    return parser.messages()
