from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.harnesses.gemini.sniff import CHAT, STREAM, settle, sniff


def lines(*values: dict[str, Any]) -> list[bytes]:
    return [json.dumps(value).encode() for value in values]


@pytest.mark.parametrize(
    ("value", "dialect"),
    [
        ({"type": "init", "timestamp": "t", "session_id": "s", "model": "m"}, STREAM),
        ({"type": "init", "session_id": "s"}, None),
        ({"type": "message", "timestamp": "t", "role": "user", "content": "hi"}, STREAM),
        ({"type": "message", "role": "user", "content": "hi"}, None),
        ({"type": "message", "timestamp": "t", "role": "user", "content": []}, None),
        ({"type": "result", "timestamp": "t", "status": "success", "stats": {}}, None),
        ({"type": "tool_use", "timestamp": "t", "name": "x", "id": "1"}, None),
        ({"sessionId": "s", "projectHash": "p", "startTime": "t"}, CHAT),
        ({"sessionId": "s"}, None),
        ({"$set": {"lastUpdated": "t"}}, CHAT),
        ({"$set": {"name": "x"}}, None),
        ({"id": "1", "timestamp": "t", "type": "gemini", "content": ""}, CHAT),
        ({"id": "1", "timestamp": "t", "type": "user", "content": [{"text": "hi"}]}, CHAT),
        ({"id": "1", "timestamp": "t", "type": "user", "content": "hi"}, None),
        ({"uuid": "1", "sessionId": "s", "timestamp": "t", "type": "user", "message": {}}, None),
    ],
)
def test_a_line_is_claimed_by_all_of_its_keys(value: dict[str, Any], dialect: str | None) -> None:
    assert sniff(lines(value)) == dialect


def test_a_journal_is_known_by_its_lines_or_else_by_its_command() -> None:
    inner = json.dumps({"type": "init", "timestamp": "t", "session_id": "s", "model": "m"})
    meta = {"dir": "meta", "cmd": ["node", "/x/gemini.js", "-o", "stream-json"]}

    assert sniff(lines({"t": 1, "dir": "out", "raw": inner})) == STREAM
    assert sniff(lines(meta, {"dir": "err", "raw": "oh"})) is None
    assert settle(lines(meta, {"dir": "err", "raw": "oh"})) == STREAM
    assert settle(lines({"dir": "meta", "cmd": ["gemini", "--acp"]})) is None
    assert settle([b"no json"]) is None
