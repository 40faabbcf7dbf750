"""What Gemini says over ACP, completed from its chat while it works."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest

import dragoman
from dragoman.harnesses.acp.driving.conversation import AcpConversation
from dragoman.harnesses.gemini import GEMINI
from dragoman.harnesses.gemini.chat.following import GeminiFileReader
from dragoman.harnesses.gemini.history import GEMINI_FILES
from dragoman.harnesses.gemini.sniff import CHAT
from dragoman.model import intents
from dragoman.model.messages import (
    Message,
    Plan,
    SessionStarted,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UsageReport,
)
from dragoman.model.turns import Turn
from dragoman.testing.likeness import differences
from dragoman.wire.directions import unwrap

_RUNS = Path(__file__).parents[2] / "data" / "gemini" / "runs" / "0.61.0"
_OF_CHATS = [limit for limit in GEMINI.limits if limit.dialect == CHAT]


def _read(name: str) -> list[Message]:
    return list(dragoman.read(_RUNS / name))


def _turns(messages: Iterable[Message], session_id: str) -> list[Turn]:
    return dragoman.fold(each for each in messages if each.session_id == session_id)


@pytest.mark.parametrize(
    ("live", "disk"),
    [
        ("acp-work.live.jsonl", "acp-work.disk1.jsonl"),
        ("acp-work.live.jsonl", "acp-work.disk2.jsonl"),
        ("acp-approvals.live.jsonl", "acp-approvals.disk.jsonl"),
        ("acp-interrupted.live.jsonl", "acp-interrupted.disk.jsonl"),
    ],
)
def test_with_the_chat_beside_it_the_stream_lacks_nothing_that_the_chat_has(
    live: str, disk: str
) -> None:
    kept = _read(disk)
    session_id = kept[0].session_id or ""
    one, other = _turns(_read(live), session_id), _turns(kept, session_id)

    assert len(one) > 0
    assert [str(each) for each in differences(one, other, _OF_CHATS)] == []


def test_without_it_outputs_inputs_plans_and_tokens_are_missing() -> None:
    alone, completed = _read("acp-bare.live.jsonl"), _read("acp-work.live.jsonl")

    def has(messages: list[Message]) -> tuple[bool, bool, int]:
        results = [each for each in messages if isinstance(each, ToolResult)]
        plans = [each for each in messages if isinstance(each, Plan)]
        sessions = {each.session_id for each in messages if isinstance(each, SessionStarted)}
        return any(each.exit_code == 3 for each in results), bool(plans), len(sessions)

    assert has(alone) == (False, False, 1)
    assert has(completed) == (True, True, 2)


def test_a_sub_agent_works_below_the_call_that_started_it() -> None:
    messages = _read("acp-work.live.jsonl")
    (call,) = [each for each in messages if isinstance(each, ToolCall) and each.tool == "Task"]
    agent, *_ = [
        each for each in messages if isinstance(each, SessionStarted) and each.parent_session_id
    ]
    (result,) = [
        each for each in messages if isinstance(each, ToolResult) and each.call_id == call.call_id
    ]

    assert call.input == {"subagent_type": "generalist", "prompt": "HELPER: compute"}
    assert (agent.parent_session_id, agent.parent_call_id) == (call.session_id, call.call_id)
    own = [n for n, each in enumerate(messages) if each.session_id == agent.session_id]
    assert messages.index(call) < min(own)
    assert max(own) < messages.index(result)


def test_each_response_is_counted_once_and_by_the_chat() -> None:
    messages = [
        each for each in _read("acp-work.live.jsonl") if each.session_id == _main("acp-work")
    ]
    reports = [each for each in messages if isinstance(each, UsageReport)]
    (ended,) = [each for each in messages if isinstance(each, TurnEnded)]
    names = [each.response_id for each in reports]

    assert len(names) == len(set(names)) > 1
    assert None not in names
    assert ended.usage is not None
    assert ended.usage.reasoning_output_tokens == 7


def _main(scenario: str) -> str:
    return _read(f"{scenario}.disk1.jsonl")[0].session_id or ""


def test_a_result_waits_for_the_chat_until_something_else_happens() -> None:
    """Played line by line into a live conversation: what is held comes out, in order, with each turn's end."""
    talk = AcpConversation(harness="gemini", files=GeminiFileReader, make_id=lambda: "turn-1")
    talk.submit(intents.Greet(client="c", client_version="1"))
    talk.submit(intents.OpenSession(cwd="/workspace", access="yolo", asking="never"))
    seen: list[Message] = []
    submitted = False
    for line in (_RUNS / "acp-work.live.jsonl").read_bytes().split(b"\n"):
        inner, sent, _ = unwrap(line)
        if sent or not inner:
            talk.lines_to_send()
            if b"session/prompt" in inner and not submitted:
                submitted = True
                session_id = _main("acp-work")
                talk.submit(intents.StartTurn(session_id=session_id, text="do it"))
                talk.lines_to_send()
            continue
        talk.receive_line(inner)
        seen += talk.messages()

    kinds = [type(each) for each in seen if each.session_id == _main("acp-work")]
    assert kinds.count(TurnStarted) == kinds.count(TurnEnded) == 1
    results = [each for each in seen if isinstance(each, ToolResult)]
    assert [each.exit_code for each in results if each.exit_code is not None] == [3]
    assert len(results) == len({each.call_id for each in results}) > 5


def test_a_row_that_says_nothing_new_says_nothing() -> None:
    reader = GeminiFileReader()
    row = json.dumps(
        {
            "id": "m1",
            "type": "gemini",
            "content": "x",
            "tokens": {"input": 10, "output": 2},
            "toolCalls": [
                {"id": "c1", "name": "glob", "args": {}, "status": "executing"},
                {"id": "c2", "name": "glob", "args": {"pattern": "*"}, "status": "success"},
            ],
        }
    ).encode()

    first, second = reader.news(row), reader.news(row)
    assert [each.call_id for each in first.calls] == ["c2"]
    assert first.spent is not None
    assert (second.calls, second.spent) == ([], None)
    assert reader.news(b"no json") == reader.news(b'{"type":"user","content":"x"}')


def _at(minute: int, second: int = 20) -> float:
    return datetime(2026, 11, 19, 4, minute, second, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("names", "now", "seconds"),
    [
        (["session-2026-11-19T04-40-89eac02b.jsonl"], _at(40), 41),
        (["session-2026-11-19T04-40-89eac02b.jsonl"], _at(41), 0),
        # A stub of a process that resumed it in this minute is no reason to wait.
        (["session-2026-11-19T04-40-8.jsonl", "session-2026-11-19T04-41-8.jsonl"], _at(41), 0),
        ([], _at(40), 0),
        (["agent.jsonl"], _at(40), 0),
    ],
)
def test_a_session_is_resumed_after_the_minute_in_which_it_began(
    names: list[str], now: float, seconds: float
) -> None:
    assert GEMINI_FILES.resume_pause(names, now) == seconds


def test_the_files_of_a_session_are_its_chats_and_those_of_its_sub_agents() -> None:
    env = {"GEMINI_CLI_HOME": "/h"}
    opened = b'{"jsonrpc":"2.0","id":2,"result":{"sessionId":"89eac02b-d5f7","modes":{}}}'

    own = "/h/.gemini/tmp/*/chats/session-*-89eac02b.jsonl"
    assert GEMINI_FILES.pattern(env, "89eac02b-d5f7") == own
    found = "/h/.gemini/tmp/p[1]/chats/session-2026-11-19T04-40-89eac02b.jsonl"
    agents = "/h/.gemini/tmp/p[[]1]/chats/89eac02b-d5f7/*.jsonl"
    assert GEMINI_FILES.agents(found, "89eac02b-d5f7") == agents
    assert GEMINI_FILES.session_in(opened) == "89eac02b-d5f7"
    assert GEMINI_FILES.session_in(b'{"method":"session/update"}') is None
