"""Lines as documents show them."""

from __future__ import annotations

import json
from typing import Any

from dragoman.harnesses.codex.audit.values import values
from dragoman.model.messages import (
    Message,
)
from dragoman.reading.audit import audit
from dragoman.reading.evidence import Evidence, missing_values
from dragoman.reading.read import read


def stream(*lines: dict[str, Any] | str) -> bytes:
    return b"".join(
        (line if isinstance(line, str) else json.dumps(line)).encode() + b"\n" for line in lines
    )


def told(*lines: dict[str, Any] | str) -> list[Message]:
    """The messages of a stream, in which no value is lost and nothing is unknown."""
    data = stream(*lines)
    messages = list(read(data))
    evidence = Evidence()
    for message in messages:
        evidence.add(message)
    lost = [v.place for line in data.splitlines() for v in missing_values(values(line), evidence)]
    account = audit(data)
    assert (lost, account.lost, account.unread, account.unaccounted) == ([], [], [], [])
    assert not account.unknown
    return messages


def note(method: str, **params: Any) -> dict[str, Any]:
    return {"method": method, "params": {"threadId": "thr_1", **params}}


def event(name: str, **msg: Any) -> dict[str, Any]:
    return note(f"codex/event/{name}", msg=msg)


START = [
    {"id": 1, "method": "thread/start", "params": {"model": "gpt-5-codex", "cwd": "/project"}},
    {"id": 1, "result": {"thread": {"id": "thr_1", "modelProvider": "openai"}}},
    note("thread/started", thread={"id": "thr_1", "modelProvider": "openai"}),
]


ASK = [
    {
        "id": 2,
        "method": "turn/start",
        "params": {"threadId": "thr_1", "input": [{"type": "text", "text": "What is 2+2?"}]},
    },
    {"id": 2, "result": {"turn": {"id": "turn_1", "status": "inProgress"}}},
    note("turn/started", turn={"id": "turn_1"}),
]


DONE = note("turn/completed", turnId="turn_1", status="completed")
