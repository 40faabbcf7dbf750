from __future__ import annotations

from typing import Any

from dragoman.model.messages import Context, Prompt, Text, TurnEnded, UsageReport
from dragoman.model.usage import Usage
from support.claude.lines import (
    SID,
    USAGE,
    assistant,
    assistant_row,
    init,
    prompt_row,
    read_stream,
    result,
    row,
    text,
)


def mirror(*entries: Any) -> dict[str, Any]:
    return {"type": "transcript_mirror", "filePath": "/f.jsonl", "entries": [*entries]}


def test_the_prompt_and_the_context_are_in_the_mirror_only() -> None:
    attached = {"type": "date", "date": "2026-11-15"}
    messages = read_stream(
        init(),
        mirror(
            row("queue-operation"),
            prompt_row("hi", promptSource="sdk"),
            row("attachment", attachment=attached, rendered=[{"content": "It is Sunday."}]),
        ),
        assistant("m1", text("hello")),
        mirror(assistant_row("m1", text("hello"))),
        result(result="hello"),
    )

    assert [each.text for each in messages if isinstance(each, Prompt)] == ["hi"]
    assert [each.text for each in messages if isinstance(each, Context)] == ["It is Sunday."]
    assert [each.text for each in messages if isinstance(each, Text)] == ["hello"]


def test_the_mirror_says_what_each_response_took() -> None:
    messages = read_stream(
        init(),
        assistant("m1", text("one")),
        mirror(assistant_row("m1", text("one"))),
        assistant("m2", text("two")),
        mirror(assistant_row("m2", text("two"))),
        result(usage={key: 2 * int(n) for key, n in USAGE.items() if isinstance(n, int)}),
    )

    reports = [each for each in messages if isinstance(each, UsageReport) and each.last]
    assert [each.response_id for each in reports] == ["m1", "m2"]
    (end,) = (each for each in messages if isinstance(each, TurnEnded))
    assert end.usage == Usage(120, 60, 40, 80, 0, 10)


def test_the_mirror_says_what_a_sub_agent_took() -> None:
    started = {
        "type": "system",
        "subtype": "task_started",
        "task_id": "a1",
        "tool_use_id": "c1",
        "task_type": "local_agent",
        "session_id": SID,
    }
    mine: dict[str, Any] = {"parent_tool_use_id": "c1", "agent_id": "a1"}
    messages = read_stream(
        init(),
        started,
        assistant("m2", text("found"), **mine),
        mirror(assistant_row("m2", text("found"), agentId="a1", isSidechain=True)),
        result(),
    )

    reports = [each for each in messages if isinstance(each, UsageReport) and each.last]
    assert [(each.session_id, each.response_id) for each in reports][:1] == [("a1", "m2")]


def test_rows_that_cannot_be_read_do_no_harm() -> None:
    messages = read_stream(init(), mirror(3, {"type": "new"}, {"type": "user"}, None), result())

    assert messages[-1].line == 3
