from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from dragoman.errors import UsageError
from dragoman.model.messages import (
    Delta,
    Message,
    Prompt,
    SessionStarted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnStarted,
)
from dragoman.replay.timing import only_turn, timed_messages

_NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return _NOON + timedelta(seconds=seconds)


def call(seconds: float | None) -> ToolCall:
    moment = at(seconds) if seconds is not None else None
    return ToolCall(at=moment, call_id="c", tool="Bash", native_tool="shell")


def pauses(messages: list[Message], speed: float = 1.0, max_pause: float = 5.0) -> list[float]:
    return [
        round(cue.after, 3) for cue in timed_messages(messages, speed=speed, max_pause=max_pause)
    ]


def test_pauses_are_those_of_the_recording() -> None:
    assert pauses([call(0), call(2), call(2.5)]) == [0, 2, 0.5]


def test_speed_divides_them_and_none_is_without_end() -> None:
    assert pauses([call(0), call(2), call(3602)], speed=2) == [0, 1, 5]
    assert pauses([call(0), call(3600)], max_pause=0.5) == [0, 0.5]
    assert pauses([call(0), call(3600)], speed=0) == [0, 0]


def test_time_never_runs_backwards() -> None:
    assert pauses([call(5), call(1), call(6)]) == [0, 0, 1]


def test_without_times_there_is_a_pace_to_follow() -> None:
    took = ToolResult(call_id="c", duration_ms=1500)

    assert pauses([call(None), took, ToolResult(call_id="c")]) == [0.3, 1.5, 0.6]


@pytest.mark.parametrize(
    "message", [Text(at=at(3), text="one two\nthree "), Thinking(text="hm hm")]
)
def test_what_nobody_streamed_is_streamed_within_the_pause_before_it(
    message: Text | Thinking,
) -> None:
    played = list(timed_messages([call(0), message]))

    deltas = [cue.message for cue in played if isinstance(cue.message, Delta)]
    assert "".join(delta.text for delta in deltas) == message.text
    whole = played[-1].message
    assert isinstance(whole, Text | Thinking)
    assert whole.text == message.text
    if isinstance(whole, Text):
        assert {delta.message_id for delta in deltas} == {whole.message_id}
        assert sum(cue.after for cue in played) == pytest.approx(3)


def test_what_was_streamed_is_not_streamed_again() -> None:
    said = [Delta(of="text", message_id="m", text="hi"), Text(text="hi", message_id="m")]

    assert [cue.message for cue in timed_messages(said)] == said
    assert [cue.message for cue in timed_messages(said[1:], stream=False)] == said[1:]


def _session() -> list[Message]:
    messages: list[Message] = [SessionStarted(session_id="s", harness="h")]
    for number in ("1", "2"):
        messages += [
            TurnStarted(session_id="s", turn_id=number),
            Prompt(session_id="s", text=number),
        ]
        messages += [TurnStarted(session_id="child", turn_id="x")]
    return messages


def test_one_turn_is_played_with_what_is_known_of_its_session() -> None:
    second = list(only_turn(_session(), 2))

    assert [type(message).__name__ for message in second] == [
        "SessionStarted",
        "TurnStarted",
        "Prompt",
        "TurnStarted",
    ]
    assert isinstance(second[2], Prompt)
    assert second[2].text == "2"
    with pytest.raises(UsageError, match="no turn 3: the session has 2"):
        list(only_turn(_session(), 3))
