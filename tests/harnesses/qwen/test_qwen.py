"""What Qwen Code is recognized by, where it keeps its chats, who is signed in, what people can choose."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.harnesses.claude import CLAUDE
from dragoman.harnesses.contract.capabilities import resolve_access
from dragoman.harnesses.qwen import QWEN, sniff
from dragoman.harnesses.qwen.care.places import place
from dragoman.harnesses.qwen.driving.transports import parse_release
from dragoman.harnesses.qwen.failures import request_error, taken_apart, turn_error
from dragoman.harnesses.qwen.history import QWEN_HISTORY, identify, name_in
from dragoman.harnesses.qwen.sign_in import read_sign_in, sign_in_files
from support.claude import lines as claude
from support.qwen import SID, init, prompted, replied, result, row, said, system, text, text_part


def _bytes(*values: Any) -> list[bytes]:
    return [json.dumps(each).encode() + b"\n" for each in values]


@pytest.mark.parametrize(
    "line",
    [init(), said(text("x")), result(), system("task_started", task_id="t")],
    ids=["init", "assistant", "result", "system"],
)
def test_a_line_of_the_stream_is_qwens_and_not_claudes(line: dict[str, Any]) -> None:
    assert sniff.sniff(_bytes(line)) == sniff.STREAM
    assert CLAUDE.sniff(_bytes(line)) is None


def test_a_line_of_claudes_is_not_claimed() -> None:
    for line in (claude.init(), {"type": "user", "message": {"role": "user", "content": "hi"}}):
        assert sniff.sniff(_bytes(line)) is None


def test_a_row_of_a_chat_is_qwens() -> None:
    for each in (
        prompted("hi", "p"),
        replied(text_part("x"), name="a"),
        row("system", "s", systemPayload={}),
    ):
        assert sniff.sniff(_bytes(each)) == sniff.CHAT
        assert CLAUDE.sniff(_bytes(each)) is None
    assert sniff.sniff(_bytes({**prompted("hi", "p"), "userType": "external"})) is None


def test_a_recording_is_settled_by_its_command() -> None:
    ours = {"dir": "meta", "cmd": ["/opt/bin/qwen", "-o", "stream-json", "hi"]}
    assert sniff.settle(_bytes(ours)) == sniff.STREAM
    assert sniff.settle(_bytes({"dir": "meta", "cmd": ["claude", "-o", "stream-json"]})) is None


def test_a_chat_names_its_session_its_parent_and_its_fork() -> None:
    own = {"agentId": "Explore-c9", "agentName": "Explore", "isSidechain": True}
    copied = {"forkedFrom": {"sessionId": "parent", "messageUuid": "x"}}

    def origin(*rows: Any) -> tuple[Any, ...]:
        found = identify("projects/-w/chats/other.jsonl", _bytes(*rows))
        assert found is not None
        return found.session_id, found.kind, found.parent_session_id

    assert origin(prompted("hi", "p")) == (SID, None, None)
    assert origin(prompted("hi", "p", **own)) == ("Explore-c9", "sub-agent", SID)
    assert origin(prompted("hi", "p", **copied)) == (SID, "fork", "parent")


def test_without_rows_the_path_names_the_session() -> None:
    def by_path(path: str) -> tuple[Any, ...] | None:
        found = identify(path, ())
        return (found.session_id, found.kind, found.parent_session_id) if found else None

    assert by_path(f"/h/projects/-w/chats/{SID}.jsonl") == (SID, None, None)
    assert by_path(f"/h/projects/-w/chats/archive/{SID}.jsonl.zst") == (SID, None, None)
    path = f"/h/projects/-w/subagents/{SID}/agent-Explore-call_1.jsonl"
    assert by_path(path) == ("Explore-call_1", "sub-agent", SID)
    assert by_path("/h/projects/-w/memory/notes.jsonl") is None
    assert QWEN_HISTORY.home({"HOME": "/h"}) == "/h/.qwen"
    assert QWEN_HISTORY.home({"HOME": "/h", "QWEN_HOME": "/q"}) == "/q"


def test_a_users_title_comes_before_one_that_was_made() -> None:
    def title(source: str) -> tuple[int, str] | None:
        payload = {"customTitle": "Tea", "titleSource": source}
        (line,) = _bytes(row("system", "s", subtype="custom_title", systemPayload=payload))
        return name_in(line)

    assert title("auto") == (1, "Tea")
    assert title("manual") == (2, "Tea")
    assert name_in(_bytes(prompted("hi", "p"))[0]) is None


def test_who_is_signed_in() -> None:
    def settings(method: str | None, **more: Any) -> bytes:
        return json.dumps({"security": {"auth": {"selectedType": method, **more}}}).encode()

    def verdict(env: dict[str, str], *contents: bytes) -> tuple[Any, ...]:
        return tuple(read_sign_in(env, contents))

    assert sign_in_files({"HOME": "/h"})[0] == "/h/.qwen/settings.json"
    assert verdict({}, b"", b"", b"") == (False, True)
    assert verdict({"OPENAI_API_KEY": "k"}, b"", b"", b"") == (True, False)
    assert verdict({}, settings("openai"), b"", b"") == (False, True)
    assert verdict({}, settings("openai"), b"", b"OPENAI_API_KEY=k\n") == (True, False)
    assert verdict({}, settings("openai", apiKey="k"), b"", b"") == (True, False)
    assert verdict({}, settings("qwen-oauth"), b'{"refresh_token":"r"}', b"") == (True, False)
    assert verdict({}, settings("qwen-oauth"), b"", b"") == (None, False)
    assert verdict({}, settings("vertex-ai"), b"", b"") == (None, False)
    assert verdict({}, b"[" * 100_000, b"", b"") == (False, True)


def test_the_levels_of_access() -> None:
    offered = QWEN.capabilities(None)

    levels = {level: resolve_access(offered, level).value for level in ("read", "write", "full")}
    assert levels == {"read": "plan", "write": "default", "full": "yolo"}
    assert {"queue", "fork", "deny_message"} <= offered.can
    assert "steer" not in offered.can
    assert parse_release("0.24.4\n") == (0, 24, 4)
    assert parse_release("?") is None


def test_why_a_turn_failed() -> None:
    assert taken_apart("Half a[API Error: 500 x]") == ("Half a", "500 x", None)
    hinted = turn_error("[API Error: 429 Slow [down]]\nPossible quota limitations.")
    assert (hinted.message, hinted.details) == ("429 Slow [down]", "Possible quota limitations.")
    refused, limited = request_error("401 Incorrect key"), request_error("429 Slow down")
    assert (refused.kind, refused.retryable) == ("response_error", False)
    assert (limited.kind, limited.retryable) == ("turn_failed", True)
    assert request_error("terminated (cause: closed)").native is None
    assert turn_error("[API Error: 400 bad]").native == "HTTP 400"
    assert not turn_error("loop detected").retryable


def test_where_a_repaired_chat_must_lie() -> None:
    assert place(f"chats/{SID}.jsonl", SID) == f"projects/-repaired/chats/{SID}.jsonl"
    assert place("odd.jsonl", None) == "projects/-repaired/chats/odd.jsonl"
    path = f"subagents/{SID}/agent-Explore-c9.jsonl"
    assert place(path, "Explore-c9") == f"projects/-repaired/{path}"
