"""What opencode's messages and parts become: tools, plans, tokens, errors, ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dragoman.harnesses.opencode import OPENCODE
from dragoman.harnesses.opencode.tools import call_of, outcome_of
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Message,
    Prompt,
    SessionStarted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    UsageReport,
)

_DATA = Path(__file__).parents[2] / "data" / "opencode"
_S = "ses_1"


def _parsed(lines: list[bytes], ending: Any = "left") -> list[Message]:
    dialect = OPENCODE.dialect(OPENCODE.sniff(lines) or "")
    assert dialect is not None
    parser = dialect.make_parser(only=None, audit=False)
    parser.receive_lines(lines)
    parser.receive_eof(ending)
    return parser.messages()


def _read(path: str, ending: Any = "left") -> list[Message]:
    return _parsed((_DATA / path).read_bytes().splitlines(keepends=True), ending)


def _rows(*rows: tuple[str, dict[str, Any]], ending: Any = "left") -> list[Message]:
    session = ("session", {"id": _S, "directory": "/w", "version": "1.18.33"})
    lines = [json.dumps({"opencode": kind, "row": row}).encode() for kind, row in (session, *rows)]
    return _parsed(lines, ending)


def _message(name: str, **data: Any) -> tuple[str, dict[str, Any]]:
    return "message", {"id": name, "session_id": _S, "data": data}


def _part(name: str, message: str, **data: Any) -> tuple[str, dict[str, Any]]:
    return "part", {"id": name, "message_id": message, "session_id": _S, "data": data}


def test_the_ledger_counts_what_the_steps_hold() -> None:
    for path in sorted(_DATA.glob("*/*.disk*.jsonl")):
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        steps = [
            row["row"]["data"]["tokens"]
            for row in rows
            if row["opencode"] == "part" and row["row"]["data"]["type"] == "step-finish"
        ]
        messages = _read(path.relative_to(_DATA).as_posix())
        counted = [each.last for each in messages if isinstance(each, UsageReport) and each.last]

        assert sum(each.total_tokens for each in counted) == sum(step["total"] for step in steps)
        assert sum(each.cached_input_tokens for each in counted) == sum(
            step["cache"]["read"] for step in steps
        )


def test_a_fork_names_the_responses_that_it_copied() -> None:
    original = _read("opencode-store/acp_story/wire.jsonl")
    fork = _read("opencode-store/fork/wire.jsonl")
    ids = [{e.response_id for e in each if isinstance(e, UsageReport)} for each in (original, fork)]

    assert ids[1]
    assert ids[1] <= ids[0]


def test_the_cost_is_what_the_agent_reports_for_the_session_so_far() -> None:
    costs = [
        e.cost for e in _read("opencode-json/02_tools/wire.jsonl") if isinstance(e, UsageReport)
    ]

    assert costs[0] == pytest.approx(0.0001)
    assert costs[-1] == pytest.approx(0.0001 * len(costs))


def test_a_sub_agent_is_a_session_under_its_call() -> None:
    messages = _read("1.18.33/story.live.jsonl")
    task = next(each for each in messages if isinstance(each, ToolCall) and each.tool == "Task")
    started = [each for each in messages if isinstance(each, SessionStarted)]
    agent = [each for each in started if each.parent_session_id][-1]

    assert agent.parent_session_id == task.session_id
    assert agent.parent_call_id == task.call_id


def test_permissions_are_asked_and_settled_once() -> None:
    messages = _read("1.18.33/story.live.jsonl")
    asked = [each for each in messages if isinstance(each, ApprovalRequested)]
    settled = [each.decision for each in messages if isinstance(each, ApprovalSettled)]

    assert [each.command for each in asked][:2] == ["printf 'one\\ntwo\\n'", "echo bad >&2; exit 3"]
    assert settled == ["allow", "allow", "deny", "allow"]
    child = asked[-1]
    assert child.session_id != asked[0].session_id, "the sub-agent's own"


def test_exit_code_3_is_an_error() -> None:
    results = [e for e in _read("opencode-json/02_tools/wire.jsonl") if isinstance(e, ToolResult)]

    assert (results[0].exit_code, results[0].is_error, results[0].status) == (3, True, "failed")


def test_a_part_that_grows_is_emitted_once_and_whole() -> None:
    begun = {"start": 1}
    done = {"start": 1, "end": 2}
    user = _message("msg_1", role="user")
    prompt = _part("prt_1", "msg_1", type="text", text="hi")
    agent = _message("msg_2", role="assistant", modelID="m1", time={"created": 5})
    messages = _rows(
        user,
        prompt,
        agent,
        _part("prt_2", "msg_2", type="reasoning", text="h", time=begun),
        _part("prt_2", "msg_2", type="reasoning", text="hm", time=done),
        _part("prt_3", "msg_2", type="text", text="Hel", time=begun),
        _part("prt_3", "msg_2", type="text", text="Hello", time=done),
        _part("prt_3", "msg_2", type="text", text="Hello", time=done),
    )

    assert [e.text for e in messages if isinstance(e, Prompt | Thinking | Text)] == [
        "hi",
        "hm",
        "Hello",
    ]


def test_a_call_that_runs_before_its_text_is_complete_follows_it() -> None:
    running = {"status": "running", "input": {"command": "ls"}}
    messages = _rows(
        _message("msg_2", role="assistant", modelID="m1"),
        _part("prt_1", "msg_2", type="text", text="Run", time={"start": 1}),
        _part("prt_2", "msg_2", type="tool", tool="bash", callID="c", state=running),
        _part("prt_1", "msg_2", type="text", text="Running.", time={"start": 1, "end": 2}),
        ending="over",
    )

    kinds = [type(each) for each in messages if isinstance(each, Text | ToolCall)]
    assert kinds == [Text, ToolCall]


def test_a_session_without_its_end_stays_open() -> None:
    messages = _rows(
        _message("msg_1", role="user"),
        _part("prt_1", "msg_1", type="text", text="hi"),
        _message("msg_2", role="assistant", modelID="m1"),
    )

    assert [each for each in messages if isinstance(each, TurnEnded)] == []


@pytest.mark.parametrize(
    ("path", "outcome", "retryable"),
    [
        ("opencode-json/04_err_401/wire.jsonl", "failed", False),
        ("1.18.33/unauth.disk.jsonl", "failed", False),
        ("1.18.33/hello.live.jsonl", "completed", None),
    ],
)
def test_how_a_turn_ends(path: str, outcome: str, retryable: bool | None) -> None:
    (ended,) = [each for each in _read(path, "over") if isinstance(each, TurnEnded)]

    assert ended.outcome == outcome
    assert (ended.error.retryable if ended.error else None) == retryable


def test_tools_have_the_usual_names_and_inputs() -> None:
    given = {"filePath": "a", "oldString": "b", "newString": "c"}

    assert call_of("edit", given) == (
        "Edit",
        {"file_path": "a", "old_string": "b", "new_string": "c"},
    )
    assert call_of("lab_add", {"a": 1}) == ("mcp__lab__add", {"a": 1})
    assert call_of("todoread", {}).tool == "todoread"


def test_a_rejected_call_is_declined() -> None:
    error = "The user rejected permission to use this specific tool call."

    assert outcome_of({"status": "error", "error": error}).status == "declined"
    assert outcome_of({"status": "error", "error": "no such file"}).status == "failed"
