from __future__ import annotations

from typing import Any

import pytest

from dragoman.harnesses.contract.writer import HandedConversation, Loss
from dragoman.harnesses.writing.conversation import conversation_of
from dragoman.model.messages import (
    Compacted,
    Context,
    Message,
    Notice,
    Prompt,
    SessionStarted,
    Text,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    Unknown,
)
from dragoman.model.turns import Use

_OWN = "own"


def _turn(turn_id: str, *said: Message, session_id: str = _OWN, prompt: str = "") -> list[Message]:
    facts: Any = {"session_id": session_id, "turn_id": turn_id}
    return [
        TurnStarted(**facts),
        Prompt(**facts, text=prompt or f"prompt of {turn_id}"),
        *said,
        TurnEnded(**facts, outcome="completed"),
    ]


def _text(turn_id: str, text: str, session_id: str = _OWN) -> Text:
    return Text(session_id=session_id, turn_id=turn_id, text=text)


def _of(messages: list[Message], **options: Any) -> tuple[HandedConversation, dict[str, Loss]]:
    found, losses = conversation_of(
        messages, _OWN, turns_undone=lambda notice: notice.undone_turns, **options
    )
    return found, {loss.kind: loss for loss in losses}


def _prompts(found: HandedConversation) -> list[str]:
    return [part.text for turn in found.turns for part in turn.parts if isinstance(part, Prompt)]


def test_parts_keep_their_order_and_calls_their_results() -> None:
    facts: Any = {"session_id": _OWN, "turn_id": "1"}
    call = ToolCall(**facts, call_id="c", tool="Bash", native_tool="sh", input={"command": "ls"})
    result = ToolResult(**facts, call_id="c", output="a")
    steer = Prompt(**facts, text="steer")

    found, _ = _of(_turn("1", _text("1", "one"), call, result, steer, _text("1", "two")))

    [turn] = found.turns
    assert [type(part).__name__ for part in turn.parts] == [
        "Prompt", "Text", "Use", "Prompt", "Text",
    ]  # fmt: skip
    assert turn.parts[2] == Use(call, result)
    assert turn.outcome == "completed"


def test_undone_turns_are_left_out() -> None:
    messages = [
        *_turn("1"), *_turn("2"), *_turn("3"),
        Notice(session_id=_OWN, level="info", text="rolled back", undone_turns=2),
        *_turn("4"),
    ]  # fmt: skip

    assert _prompts(_of(messages)[0]) == ["prompt of 1", "prompt of 4"]


def test_a_summary_stands_for_what_was_compacted() -> None:
    messages = [
        *_turn("1"), *_turn("2"),
        Compacted(session_id=_OWN, summary="so far"),
        *_turn("3"),
    ]  # fmt: skip

    found, losses = _of(messages)

    assert (found.summary, _prompts(found)) == ("so far", ["prompt of 3"])
    assert losses["compacted turns"].count == 2
    assert losses["compacted turns"].kept


def test_a_compaction_within_a_turn_keeps_what_comes_after_it() -> None:
    first, prompt, *_, last = _turn("1")
    messages = [first, prompt, _text("1", "before"), Compacted(session_id=_OWN, summary="so far"),
                _text("1", "after"), last]  # fmt: skip

    found, _ = _of(messages)

    [turn] = found.turns
    assert [part.text for part in turn.parts if isinstance(part, Text)] == ["after"]
    assert turn.outcome == "completed"


def test_without_a_readable_summary_all_turns_are_kept() -> None:
    found, losses = _of([*_turn("1"), Compacted(session_id=_OWN), *_turn("2")])

    assert found.summary is None
    assert _prompts(found) == ["prompt of 1", "prompt of 2"]
    assert losses["compaction"].kept


def test_selected_turns_come_without_a_summary() -> None:
    messages = [*_turn("1"), Compacted(session_id=_OWN, summary="so far"), *_turn("2"), *_turn("3")]

    def but_the_last(number: int, count: int) -> bool:
        return number < count

    found, losses = _of(messages, wanted=but_the_last)

    assert found.summary is None
    assert _prompts(found) == ["prompt of 1", "prompt of 2"]
    assert "compacted turns" not in losses


def test_numbers_count_turns_that_were_undone() -> None:
    undone = Notice(session_id=_OWN, level="info", text="", undone_turns=1)
    seen: list[tuple[int, int]] = []

    def wanted(number: int, count: int) -> bool:
        seen.append((number, count))
        return True

    _of([*_turn("1"), *_turn("2"), undone, *_turn("3")], wanted=wanted)

    assert seen == [(1, 3), (3, 3)]


def test_a_fork_has_the_turns_of_those_it_was_forked_from() -> None:
    messages: list[Message] = [
        SessionStarted(session_id=_OWN, harness="h", parent_session_id="parent"),
        *_turn("g", session_id="grandparent"),
        SessionStarted(session_id="parent", harness="h", parent_session_id="grandparent"),
        *_turn("p", session_id="parent"),
        *_turn("1"),
    ]

    assert _prompts(_of(messages)[0]) == ["prompt of g", "prompt of p", "prompt of 1"]


def test_steps_of_sub_agents_are_left_out() -> None:
    messages: list[Message] = [
        SessionStarted(session_id=_OWN, harness="h"),
        *_turn(
            "1",
            SessionStarted(
                session_id="agent", harness="h", parent_session_id=_OWN, parent_call_id="c"
            ),
            _text("a", "inner", "agent"),
            _text("a", "more", "agent"),
            _text("1", "outer"),
        ),
    ]

    found, losses = _of(messages)

    assert [part.text for part in found.turns[0].parts if isinstance(part, Text)] == ["outer"]
    assert losses["sub-agents"].count == 1
    assert not losses["sub-agents"].kept


def test_what_the_new_program_has_of_its_own_is_counted_and_left_out() -> None:
    messages: list[Message] = [
        Context(session_id=_OWN, role="user", text="rules"),
        Unknown(session_id=_OWN, native_type="new", raw="{}"),
        *_turn("1"),
    ]

    found, losses = _of(messages)

    assert len(found.turns[0].parts) == 1
    assert (losses["context"].count, losses["unknown"].count) == (1, 1)


def test_commands_of_the_program_itself_are_no_part_of_the_conversation() -> None:
    assert _prompts(_of([*_turn("1", prompt="/compact"), *_turn("2")])[0]) == ["prompt of 2"]


def test_a_turn_without_an_end_is_over_in_the_new_session() -> None:
    call = ToolCall(session_id=_OWN, turn_id="2", call_id="c", tool="Bash", native_tool="sh")

    found, losses = _of([*_turn("1", _text("1", "all"))[:-1], *_turn("2", call)[:-1]])

    assert [turn.outcome for turn in found.turns] == ["completed", "interrupted"]
    assert (losses["open turn"].count, losses["open turn"].kept) == (1, True)


@pytest.mark.parametrize("turn_id", ["1", None])
def test_a_late_message_finds_its_turn(turn_id: str | None) -> None:
    messages = [*_turn("1"), *_turn("2"), Text(session_id=_OWN, turn_id=turn_id, text="late")]

    found, _ = _of(messages)

    assert isinstance(found.turns[0 if turn_id else 1].parts[-1], Text)
