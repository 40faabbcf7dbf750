"""Lines and rows of Qwen Code, as short as they can be."""

from __future__ import annotations

import json
from typing import Any

from dragoman.harnesses.contract.reading import Ending
from dragoman.harnesses.qwen.chat.parser import QwenChatParser
from dragoman.harnesses.qwen.stream.parser import QwenStreamParser
from dragoman.model.messages import Message

SID = "11111111-2222-4333-8444-555555555555"
COUNTS = {
    "input_tokens": 100,
    "output_tokens": 20,
    "cache_read_input_tokens": 40,
    "total_tokens": 120,
}
NO_COUNTS = {"input_tokens": 0, "output_tokens": 0}


# Lines of the stream.


def init(**more: Any) -> dict[str, Any]:
    return {
        "type": "system",
        "subtype": "init",
        "uuid": SID,
        "session_id": SID,
        "cwd": "/w",
        "model": "m",
        "permission_mode": "default",
        "qwen_code_version": "0.24.4",
        **more,
    }


def said(*blocks: Any, name: str = "m1", usage: Any = None, **more: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"id": name, "role": "assistant", "model": "m"}
    message["content"] = [*blocks]
    message["usage"] = COUNTS if usage is None else usage
    line = {"type": "assistant", "uuid": name, "session_id": SID, "parent_tool_use_id": None}
    return {**line, "message": message, **more}


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def tool_use(name: str, given: Any, call_id: str = "c1") -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def answer(value: str, call_id: str = "c1", *, is_error: bool = False, **more: Any) -> Any:
    block = {"type": "tool_result", "tool_use_id": call_id, "is_error": is_error, "content": value}
    line = {"type": "user", "uuid": f"u-{call_id}", "session_id": SID, "parent_tool_use_id": None}
    return {**line, "message": {"role": "user", "content": [block]}, **more}


def system(subtype: str, **data: Any) -> dict[str, Any]:
    line = {"type": "system", "subtype": subtype, "uuid": "s", "session_id": SID}
    return {**line, "parent_tool_use_id": None, "data": data}


def result(value: str = "", **more: Any) -> dict[str, Any]:
    line = {"type": "result", "session_id": SID, "is_error": False, "duration_ms": 5}
    return {**line, "result": value, "usage": COUNTS, **more}


def failed(message: str, **more: Any) -> dict[str, Any]:
    return {**result(), "is_error": True, "error": {"message": message}, **more}


def read_stream(*lines: Any) -> list[Message]:
    parser = QwenStreamParser(audit=True)
    for line in lines:
        parser.receive_line(json.dumps(line).encode() + b"\n")
    parser.receive_eof()
    return parser.messages()


# Rows of a chat.


def row(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {
        "uuid": name,
        "parentUuid": None,
        "sessionId": SID,
        "timestamp": "2026-11-15T22:53:34.608Z",
        "type": kind,
        "cwd": "/w",
        "version": "0.24.4",
        **more,
    }


def prompted(value: str, name: str, **more: Any) -> dict[str, Any]:
    return row("user", name, message={"role": "user", "parts": [text_part(value)]}, **more)


def replied(*parts: Any, name: str, counts: Any = True, **more: Any) -> dict[str, Any]:
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}
    given = {"usageMetadata": usage} if counts is True else {}
    message = {"role": "model", "parts": [*parts]}
    return row("assistant", name, model="m", message=message, **given, **more)


def text_part(value: str) -> dict[str, Any]:
    return {"text": value}


def call_part(tool: str, given: Any, call_id: str = "c1") -> dict[str, Any]:
    return {"functionCall": {"id": call_id, "name": tool, "args": given}}


def returned(name: str, response: Any, call_id: str = "c1", **facts: Any) -> dict[str, Any]:
    part = {"functionResponse": {"id": call_id, "name": "x", "response": response}}
    return row(
        "tool_result",
        name,
        message={"role": "user", "parts": [part]},
        toolCallResult={"callId": call_id, **facts},
    )


def event(name: str, kind: str, **fields: Any) -> dict[str, Any]:
    payload = {"uiEvent": {"event.name": f"qwen-code.{kind}", **fields}}
    return row("system", name, subtype="ui_telemetry", systemPayload=payload)


def read_chat(*rows: Any, ending: Ending = "left") -> list[Message]:
    parser = QwenChatParser(audit=True)
    for each in rows:
        parser.receive_line(json.dumps(each).encode() + b"\n")
    parser.receive_eof(ending)
    return parser.messages()


def of(kind: type[Any], messages: list[Message]) -> list[Any]:
    return [each for each in messages if isinstance(each, kind)]
