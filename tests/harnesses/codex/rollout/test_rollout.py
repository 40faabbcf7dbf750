"""Session files: their rows, mixed ages, copied rows, and rows that can be skipped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dragoman
from dragoman import (
    Compacted,
    Context,
    Message,
    Notice,
    Prompt,
    SessionStarted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    Unknown,
    Usage,
    UsageReport,
)
from dragoman.harnesses.codex.events.conversation_shapes import TaskStarted
from dragoman.harnesses.codex.rollout.copies import CopiedRows
from dragoman.harnesses.codex.rollout.peek import without_secret
from dragoman.harnesses.codex.rollout.prefilter import Skipper
from dragoman.harnesses.codex.rollout.shapes import EventRow


def told(*rows: dict[str, Any]) -> list[Message]:
    return list(dragoman.read([json.dumps(row) for row in rows], dialect="codex-rollout"))


def row(kind: str, second: int = 0, **payload: Any) -> dict[str, Any]:
    return {"timestamp": f"2026-01-01T00:00:{second:02}.000Z", "type": kind, "payload": payload}


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return row("event_msg", type=kind, **fields)


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return row("response_item", type=kind, **fields)


def said(role: str, text: str, **fields: Any) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": text}], **fields)


_META = row("session_meta", id="s1", cwd="/w", cli_version="0.120.0")


# What begins a session.


def test_the_session_is_told_with_the_model_that_a_later_row_names() -> None:
    began = told(_META, event("task_started", turn_id="u"), row("turn_context", model="m"))[0]
    assert isinstance(began, SessionStarted)
    assert (began.model, began.version, began.line) == ("m", "0.120.0", 1)


def test_a_session_that_never_names_its_model_is_told_all_the_same() -> None:
    rows = [said("user", f"<environment_context>{n}</environment_context>") for n in range(60)]
    messages = told(_META, *rows)
    assert isinstance(messages[0], SessionStarted)
    assert len([each for each in messages if isinstance(each, Context)]) == 60


def test_a_change_of_model_is_told() -> None:
    messages = told(
        _META, row("turn_context", model="a", cwd="/w"), row("turn_context", model="b", cwd="/w")
    )
    assert [each.model for each in messages if isinstance(each, SessionStarted)] == ["a", "b"]


def test_a_file_that_goes_on_with_another_release_is_one_session() -> None:
    messages = told(
        _META,
        event("user_message", message="one"),
        said("user", "one"),
        event("agent_message", message="first"),
        said("assistant", "first"),
        row("session_meta", id="s1", cwd="/w", cli_version="0.166.0", history_mode="paginated"),
        event("task_started", turn_id="u2"),
        said("user", "two", id="m2"),
        event("item_completed", turn_id="u2",
              item={"type": "UserMessage", "id": "x", "content": [{"type": "text", "text": "two"}]}),
        event("item_completed", turn_id="u2",
              item={"type": "AgentMessage", "id": "y", "content": [{"type": "Text", "text": "second"}]}),
        said("assistant", "second", id="y"),
        event("task_complete", turn_id="u2"),
    )  # fmt: skip
    words = [each.text for each in messages if isinstance(each, Prompt | Text)]
    assert words == ["one", "first", "two", "second"]
    assert {each.session_id for each in messages} == {"s1"}


def test_flat_rows_and_rows_with_a_payload_may_stand_in_one_file() -> None:
    lines: list[dict[str, Any]] = [
        {"id": "s1", "timestamp": "2025-08-01T00:00:00Z", "instructions": "Be kind."},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "old"}]},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "yes"}],
        },
        event("user_message", message="new"),
        event("agent_message", message="no"),
    ]
    messages = told(*lines)
    assert [each.text for each in messages if isinstance(each, Context)] == ["Be kind."]
    words = [each.text for each in messages if isinstance(each, Prompt | Text)]
    assert words == ["old", "yes", "new", "no"]


# Twins of every age.


def test_the_response_item_of_a_prompt_is_the_twin_of_its_event() -> None:
    messages = told(_META, said("user", "hi"), event("user_message", message="hi"))
    assert [each.line for each in messages if isinstance(each, Prompt)] == [3]


def test_a_text_that_only_the_response_item_has_was_meant_for_the_model() -> None:
    messages = told(_META, event("user_message", message="x"), said("assistant", "not shown"))
    assert [each.role for each in messages if isinstance(each, Context)] == ["assistant"]


def test_a_text_that_an_event_announced_has_the_id_of_its_response_item() -> None:
    messages = told(
        _META,
        event("user_message", message="x"),
        event("agent_reasoning", text="thought"),
        item("reasoning", summary=[{"type": "summary_text", "text": "thought"}]),
        event("agent_message", message="said", phase="commentary"),
        said("assistant", "said", id="m7"),
    )
    assert [each.text for each in messages if isinstance(each, Thinking)] == ["thought"]
    text = next(each for each in messages if isinstance(each, Text))
    assert (text.line, text.message_id, text.phase) == (6, "m7", "commentary")


def test_what_was_announced_and_never_came_is_told_when_the_turn_ends() -> None:
    messages = told(
        _META,
        event("task_started", turn_id="u"),
        event("agent_message", message="lonely"),
        event("task_complete", turn_id="u"),
    )
    assert [each.text for each in messages if isinstance(each, Text)] == ["lonely"]


def test_a_command_that_the_user_ran_by_hand_is_a_call() -> None:
    text = (
        "<user_shell_command>\n<command>\nls\n</command>\n<result>\nExit code: 1\n"
        "Duration: 0.5000 seconds\nOutput:\nnope\n</result>\n</user_shell_command>"
    )
    messages = told(_META, event("user_message", message="x"), said("user", text))
    call = next(each for each in messages if isinstance(each, ToolCall))
    result = next(each for each in messages if isinstance(each, ToolResult))
    assert (call.native_tool, call.input) == ("user_shell", {"command": "ls"})
    assert (result.output, result.exit_code, result.duration_ms) == ("nope", 1, 500)


def test_a_compaction_is_told_once_whoever_tells_it() -> None:
    messages = told(
        _META,
        event("user_message", message="x"),
        row("compacted", message="All was well."),
        event("context_compacted"),
    )
    assert [each.summary for each in messages if isinstance(each, Compacted)] == ["All was well."]


def test_rows_that_are_new_to_us_are_kept() -> None:
    messages = told(_META, row("dream", of="sheep"), event("dreamt", of="sheep"), item("dream"))
    kinds = [each.native_type for each in messages if isinstance(each, Unknown)]
    assert kinds == ["dream", "event_msg/dreamt", "response_item/dream"]


# Turns.


def test_without_ends_a_turn_is_complete_if_the_agent_had_the_last_word() -> None:
    def outcomes(*rows: dict[str, Any]) -> list[str]:
        messages = told(_META, event("user_message", message="x"), *rows)
        return [each.outcome for each in messages if isinstance(each, TurnEnded)]

    assert outcomes(event("agent_message", message="done")) == ["completed"]
    assert outcomes() == []
    call = item("function_call", name="shell", call_id="c", arguments='{"command":["ls"]}')
    assert outcomes(event("agent_message", message="wait"), call) == []
    # The next turn says that this one is over.
    again = event("user_message", message="y")
    assert outcomes(event("agent_message", message="wait"), call, again) == ["interrupted"]


def test_a_turn_of_a_release_that_writes_ends_is_open_until_the_row_is_there() -> None:
    rows = [_META, event("task_started", turn_id="u1"), event("agent_message", message="done")]

    assert not [each for each in told(*rows) if isinstance(each, TurnEnded)]
    ended = told(*rows, event("task_complete", turn_id="u1"))[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.outcome == "completed"


def test_turns_without_a_name_are_numbered() -> None:
    prompts = [event("user_message", message=text) for text in ("a", "b")]
    starts = [each.turn_id for each in told(_META, *prompts) if isinstance(each, TurnStarted)]
    assert starts == ["turn-1", "turn-2"]


# Copied rows.

_PARENT = "01a1e226-18d3-7a62-9642-c87925ee51ec"
_CHILD = "01a1e226-19da-7aa0-99bd-b0145dc4c79a"
_GRANDCHILD = "01a1e226-20da-7aa0-99bd-b0145dc4c79a"


def _starts(turn_id: str | None) -> EventRow:
    return EventRow(payload=TaskStarted(turn_id=turn_id))


def test_a_turn_belongs_to_the_youngest_session_that_is_older_than_it() -> None:
    copies = CopiedRows(_GRANDCHILD)
    copies.add(_CHILD)
    copies.add(_PARENT)
    assert copies.owner(_starts("01a1e226-18f3-7751-b08d-66bd6b21200f")) == _PARENT
    assert copies.owner(_starts("01a1e226-1a01-7880-8a2e-2a611090fa58")) == _CHILD
    assert copies.owner(_starts("01a1e226-2101-7880-8a2e-2a611090fa58")) == _GRANDCHILD
    assert copies.owner(_starts("my-own-turn-name")) == _GRANDCHILD
    assert copies.owner(EventRow(payload=TaskStarted())) is None


def test_a_copied_turn_that_was_still_open_is_closed_under_its_own_session() -> None:
    messages = told(
        row("session_meta", id=_CHILD, cli_version="0.146.0"),
        row("session_meta", id=_PARENT, cli_version="0.146.0"),
        event("task_started", turn_id="01a1e226-18f3-7751-b08d-66bd6b21200f"),
        item("function_call", name="spawn_agent", call_id="c", arguments="{}"),
        event("task_started", turn_id="01a1e226-1a01-7880-8a2e-2a611090fa58"),
    )
    result = next(each for each in messages if isinstance(each, ToolResult))
    assert (result.session_id, result.status) == (_PARENT, "abandoned")
    starts = [each.session_id for each in messages if isinstance(each, TurnStarted)]
    assert starts == [_PARENT, _CHILD]
    began = messages[0]
    assert isinstance(began, SessionStarted)
    assert (began.session_id, began.parent_session_id) == (_CHILD, _PARENT)


# Reviews.


def test_a_review_is_one_turn_whatever_its_reviewer_starts() -> None:
    messages = told(
        _META,
        event("entered_review_mode", user_facing_hint="changes"),
        event("task_started", turn_id="inner"),
        event("user_message", message="Review it."),
        event("user_message", message="Review it."),
        event("exited_review_mode", review_output={"overall_explanation": "Fine."}),
        said("assistant", "Fine."),
        event("agent_message", message="Fine."),
        event("task_complete", turn_id="outer"),
    )
    kinds = [type(each) for each in messages[1:]]
    assert kinds == [TurnStarted, Notice, Prompt, Text, TurnEnded]


# Tokens.


def _count(total: int, last: int) -> dict[str, Any]:
    usage = {"input_tokens": total, "output_tokens": 0}
    newest = {"input_tokens": last, "output_tokens": 0}
    return event("token_count", info={"total_token_usage": usage, "last_token_usage": newest})


@pytest.mark.parametrize(
    ("counts", "turns"),
    [
        ([(100, 100), (250, 150)], [100, 150]),
        ([(500, 50), (600, 100)], [50, 100]),  # we came in late: what was before is not ours
        ([(100, 100), (40, 40)], [100, 40]),  # started anew
        ([(300, 300), (900, 600), (480, 180)], [300, 600, 180]),  # set back to an earlier turn
    ],
)
def test_a_turns_tokens_from_running_totals(
    counts: list[tuple[int, int]], turns: list[int]
) -> None:
    rows: list[dict[str, Any]] = []
    for number, (total, last) in enumerate(counts):
        turn = f"u{number}"
        rows += [event("task_started", turn_id=turn), _count(total, last), _count(total, last)]
        rows += [event("task_complete", turn_id=turn)]
    ends = [each for each in told(_META, *rows) if isinstance(each, TurnEnded)]
    assert [end.usage for end in ends] == [Usage(input_tokens=spent) for spent in turns]


def test_a_session_without_tokens_has_none_rather_than_zero() -> None:
    ended = told(_META, event("user_message", message="x"), event("agent_message", message="y"))[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.usage is None


# Glancing.


def test_rows_known_by_a_glance_tell_the_same_as_when_they_are_decoded(runs: Path) -> None:
    """With other whitespace a row is not known by its first bytes, and is decoded."""
    glanced = 0
    for path in sorted(runs.glob("*/*rollout*.jsonl")):
        lines = path.read_bytes().splitlines()
        if b'"history_mode":"paginated"' not in lines[0]:
            continue
        spaced = [line.replace(b'"payload":{', b'"payload": {', 1) + b"\n" for line in lines]
        assert list(dragoman.read(path)) == list(dragoman.read(spaced)), path
        one, other = dragoman.audit(path), dragoman.audit(spaced)
        assert (one.duplicates, one.unaccounted) == (other.duplicates, other.unaccounted), path
        glanced += one.duplicates.total()
    assert glanced > 100


def test_what_only_its_makers_can_read_is_not_read() -> None:
    row = b'{"timestamp":"2026-01-01T00:00:00.000Z","type":"response_item","payload":{"type":"reasoning","id":"r",'
    assert without_secret(row + b'"encrypted_content":"gAAA==","summary":[]}}') == (
        row + b'"encrypted_content":"","summary":[]}}'
    )
    assert without_secret(row + b'"summary":[]}}') == row + b'"summary":[]}}'
    assert without_secret(row + b'"encrypted_content":"cut') == row + b'"encrypted_content":"cut'
    other = row.replace(b"reasoning", b"message") + b'"encrypted_content":"x"}}'
    assert without_secret(other) == other


# Skipping.


def test_rows_are_skipped_only_if_they_are_known_and_cannot_matter() -> None:
    skipper = Skipper.for_types(frozenset(("usage",)))
    assert skipper is not None

    def skips(value: dict[str, Any]) -> bool:
        return skipper.can_skip(json.dumps(value, separators=(",", ":")).encode())

    assert skips(item("function_call_output", output="x" * 500))
    assert skips(event("agent_reasoning", text="x"))
    assert not skips(_count(1, 1))
    assert not skips(event("task_started"))
    assert not skips(event("of_tomorrow"))
    assert not skips(_META)
    assert not skipper.can_skip(b'{"type":"event_msg", "payload": {"type":"agent_reasoning"}}')
    assert not skipper.can_skip(
        b'{"timestamp":"t","type":"event_msg","payload":{"type":"agent\\u005fx"}}'
    )


def test_nothing_is_skipped_for_types_that_any_row_may_make() -> None:
    assert Skipper.for_types(None) is None
    assert Skipper.for_types(frozenset(("tool_call", "usage"))) is None
    assert Skipper.for_types(frozenset(("notice",))) is None


def test_items_are_skipped_by_their_type() -> None:
    skipper = Skipper.for_types(frozenset(("text",)))
    assert skipper is not None
    prefix = b'{"timestamp":"2026-11-16T02:05:10.229Z","ordinal":8,"type":"event_msg","payload":'
    command = prefix + b'{"type":"item_completed","item":{"type":"CommandExecution","id":"c"}}}'
    answer = prefix + b'{"type":"item_completed","item":{"type":"AgentMessage","id":"c"}}}'
    assert skipper.can_skip(command)
    assert not skipper.can_skip(answer)


def test_reading_only_some_types_gives_the_same_as_reading_all(runs: Path) -> None:
    for path in sorted(runs.glob("*/*rollout*.jsonl")):
        everything = list(dragoman.read(path))
        for only in ({"usage"}, {"prompt", "text"}, {"rate_limits"}, {"turn_started", "usage"}):
            names = tuple(only)
            wanted = [each for each in everything if _type(each) in names]
            assert list(dragoman.read(path, only=only)) == wanted, (path, only)


def _type(message: Message) -> str:
    kinds: dict[type[Message], str] = {UsageReport: "usage", Prompt: "prompt", Text: "text"}
    name = json.loads(dragoman.encode(message))["type"]
    assert kinds.get(type(message), name) == name
    return name


def test_a_new_kind_of_row_between_a_prompt_and_its_event_changes_neither(runs: Path) -> None:
    lines = (runs / "0.163.0/interrupt_cmd.rollout.jsonl").read_bytes().splitlines(keepends=True)
    new = b'{"timestamp":"2027-01-01T00:00:00Z","type":"dream","payload":{"of":"sheep"}}\n'

    messages = list(dragoman.read([*lines[:8], new, *lines[8:]]))

    assert next(each.text for each in messages if isinstance(each, dragoman.Prompt)) == "loop"
    assert not [
        each for each in messages if isinstance(each, dragoman.Context) and each.text == "loop"
    ]


def test_a_migrated_turn_stays_one_if_only_some_types_are_wanted(data: Path) -> None:
    path = data / "codex" / "codex-rollout" / "migrated-0.98" / "wire.jsonl"

    assert len(list(dragoman.read(path, only={"turn_started"}))) == 1
