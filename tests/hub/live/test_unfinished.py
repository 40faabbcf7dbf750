from __future__ import annotations

import pytest

from dragoman.hub.live.unfinished import Unfinished
from dragoman.model.messages import Delta, Message, Prompt, Text, Thinking, ToolCall, TurnEnded


def _delta(text: str, message_id: str | None = "m1", of: str = "text") -> Delta:
    return Delta(session_id="s", of=of, message_id=message_id, text=text)  # pyright: ignore[reportArgumentType]


def _steered(*deltas: Delta) -> Unfinished:
    unfinished = Unfinished()
    for delta in deltas:
        unfinished.add(delta)
    unfinished.whole(Prompt(session_id="s", text="only the parser"))
    return unfinished


_CALL = ToolCall(session_id="s", call_id="c", tool="Bash", native_tool="shell")


@pytest.mark.parametrize(
    "now",
    [
        _delta("Other", "m2"),
        Text(session_id="s", text="Other", message_id="m2"),
        _delta("hm", "r2", "thinking"),
        Thinking(session_id="s", text="hm"),
        _CALL,
    ],
    ids=lambda each: type(each).__name__,
)
def test_what_is_dropped_for_a_steer_is_kept_where_it_was_said(now: Message) -> None:
    unfinished = _steered(_delta("One "), _delta("two"))

    [kept] = unfinished.dropped(now)

    assert isinstance(kept, Text)
    assert (kept.text, kept.message_id) == ("One two", "m1")
    assert unfinished.dropped(now) == []
    assert unfinished.said("s") == []


@pytest.mark.parametrize(
    "now",
    [
        _delta(" three"),
        Text(session_id="s", text="One two three", message_id="m1"),
        Text(session_id="s", text="One two three"),
        _delta("printed", "c", "output"),
        Text(session_id="another", text="Other", message_id="m2"),
        TurnEnded(session_id="s", outcome="completed"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_what_goes_on_after_a_steer_is_not_dropped(now: Message) -> None:
    unfinished = _steered(_delta("One "), _delta("two"))

    assert unfinished.dropped(now) == []


def test_without_a_steer_nothing_is_dropped() -> None:
    unfinished = Unfinished()
    unfinished.add(_delta("One"))

    assert unfinished.dropped(_CALL) == []
    assert [each.text for each in unfinished.said("s") if isinstance(each, Text)] == ["One"]


def test_a_thought_that_comes_whole_is_not_kept_in_part_as_well() -> None:
    unfinished = _steered(_delta("hm", "r1", "thinking"))

    assert unfinished.dropped(Thinking(session_id="s", text="hm, so", item_id="r9")) == []
