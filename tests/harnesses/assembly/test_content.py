from __future__ import annotations

import pytest

from dragoman.harnesses.assembly.assembler import Teller
from dragoman.harnesses.assembly.output import Output
from dragoman.model.messages import (
    Context,
    Delta,
    Prompt,
    Text,
    Thinking,
    ToolResult,
    TurnEnded,
    TurnStarted,
)


@pytest.fixture
def out() -> Output:
    return Output(audit=True)


@pytest.fixture
def teller(out: Output) -> Teller:
    """A session in the middle of a turn."""
    teller = Teller(out, "codex", "s")
    teller.begin_turn("t")
    out.take_messages()
    return teller


def rules(out: Output) -> list[str]:
    return [twin.rule for twin in out.take_twins()]


# Prompts and context.


def test_a_prompt_keeps_its_pictures(out: Output, teller: Teller) -> None:
    teller.prompt("event", "look", ["/workspace/pic.png"])

    assert out.take_messages() == [
        Prompt(session_id="s", turn_id="t", text="look", images=["/workspace/pic.png"])
    ]


def test_a_prompt_told_by_two_channels_is_one_prompt(out: Output, teller: Teller) -> None:
    teller.prompt("event", "do it")
    teller.prompt("item", "do it", item_id="u1")
    teller.prompt("item", "do it", item_id="u1")

    assert len(out.take_messages()) == 1
    assert rules(out) == ["prompt: told before", "prompt: told before"]


def test_a_user_who_asks_twice_is_heard_twice(out: Output, teller: Teller) -> None:
    for channel in ("event", "item"):
        teller.prompt(channel, "again")
        teller.prompt(channel, "again")

    assert [type(message) for message in out.take_messages()] == [Prompt, Prompt]


def test_context_is_told_as_often_as_it_comes_and_opens_no_turn(out: Output) -> None:
    teller = Teller(out, "codex", "s")
    teller.context("developer", "<permissions>")
    teller.context("developer", "<permissions>")

    assert out.take_messages() == 2 * [
        Context(session_id="s", role="developer", text="<permissions>")
    ]


# Texts.


def test_a_text_carries_its_phase_and_its_name(out: Output, teller: Teller) -> None:
    teller.text("item", "Looking.", phase="commentary", message_id="msg_1")

    assert out.take_messages() == [
        Text(session_id="s", turn_id="t", text="Looking.", phase="commentary", message_id="msg_1")
    ]
    assert teller.turn_has_text
    assert teller.agent_spoke


def test_a_text_is_told_once_by_name_and_once_by_words(out: Output, teller: Teller) -> None:
    teller.text("item", "ok", message_id="msg_1")
    teller.text("row", "ok", message_id="msg_1")
    teller.text("event", "ok")

    assert len(out.take_messages()) == 1
    assert rules(out) == ["text: told before", "text: told before"]


def test_two_messages_with_the_same_words_are_two(out: Output, teller: Teller) -> None:
    for channel in ("item", "row"):
        teller.text(channel, "ok", message_id="msg_1")
        teller.text(channel, "ok", message_id="msg_2")

    texts = [message for message in out.take_messages() if isinstance(message, Text)]
    assert [text.message_id for text in texts] == ["msg_1", "msg_2"]


def test_the_next_turn_may_say_the_same(out: Output, teller: Teller) -> None:
    teller.text("event", "ok")
    teller.end_turn("completed")
    teller.begin_turn("u")
    teller.text("event", "ok")

    texts = [message for message in out.take_messages() if isinstance(message, Text)]
    assert [text.turn_id for text in texts] == ["t", "u"]


def test_an_empty_text_says_nothing(out: Output, teller: Teller) -> None:
    teller.text("event", "")

    assert out.take_messages() == []
    assert rules(out) == ["text: nothing is said"]


def test_it_can_be_asked_whether_a_text_would_be_a_repetition(out: Output, teller: Teller) -> None:
    teller.text("event", "ok", message_id="msg_1")

    assert teller.knows_text("row", "ok", None)
    assert teller.knows_text("row", "other words", "msg_1")
    assert not teller.knows_text("row", "other words", None)
    assert not teller.knows_text("event", "ok", None)


def test_a_text_whose_name_is_known_is_a_twin_without_looking_at_its_words(
    out: Output, teller: Teller
) -> None:
    teller.text("item", "ok", message_id="msg_1")

    assert teller.repeats_text("msg_1")
    assert not teller.repeats_text("msg_2")
    assert rules(out) == ["text: told before"]


def test_a_repeated_text_is_the_agent_s_last_word_all_the_same(out: Output, teller: Teller) -> None:
    teller.says_ends = False
    teller.text("item", "ok", message_id="msg_1")
    teller.prompt("item", "thanks")
    teller.repeats_text("msg_1")
    teller.leave()

    end = out.take_messages()[-1]
    assert isinstance(end, TurnEnded)
    assert end.outcome == "completed"


# Thoughts.


def test_a_thought_whose_name_is_known_is_a_twin(out: Output, teller: Teller) -> None:
    teller.thinking("item", ["hm"], "rs_1")

    assert teller.repeats_thought("rs_1")
    assert not teller.repeats_thought("rs_2")
    assert rules(out) == ["thinking: told before, or not shown"]


def test_each_part_of_a_thought_is_a_message(out: Output, teller: Teller) -> None:
    teller.thinking("item", ["**Look**", "**Patch**"], "rs_1")

    assert out.take_messages() == [
        Thinking(session_id="s", turn_id="t", text="**Look**"),
        Thinking(session_id="s", turn_id="t", text="**Patch**"),
    ]


def test_only_the_parts_that_no_channel_told_are_new(out: Output, teller: Teller) -> None:
    teller.thinking("event", ["**Look**"])
    teller.thinking("row", ["**Look**", "**Patch**", ""], "rs_1")
    teller.thinking("item", ["changed since"], "rs_1")

    thoughts = [message for message in out.take_messages() if isinstance(message, Thinking)]
    assert [thought.text for thought in thoughts] == ["**Look**", "**Patch**", "changed since"]
    assert rules(out) == []


def test_a_thought_outside_a_turn_opens_one(out: Output) -> None:
    teller = Teller(out, "codex", "s")
    teller.thinking("event", ["hm"])

    assert [type(message) for message in out.take_messages()] == [TurnStarted, Thinking]


@pytest.mark.parametrize("parts", [[], [""]])
def test_a_thought_that_is_not_shown_is_not_told(
    out: Output, teller: Teller, parts: list[str]
) -> None:
    teller.thinking("row", parts, "rs_1")

    assert out.take_messages() == []
    assert rules(out) == ["thinking: told before, or not shown"]


# Pieces.


def test_a_piece_without_a_name_belongs_to_the_message_named_last(
    out: Output, teller: Teller
) -> None:
    teller.delta("item", "text", "Look", "msg_1")
    teller.delta("event", "text", "Look")
    teller.delta("event", "text", "ing.")
    teller.delta("item", "text", "ing.", "msg_1")

    assert out.take_messages() == [
        Delta(session_id="s", turn_id="t", of="text", message_id="msg_1", text="Look"),
        Delta(session_id="s", turn_id="t", of="text", message_id="msg_1", text="ing."),
    ]
    assert rules(out) == ["delta: told before", "delta: told before"]


def test_pieces_of_one_channel_that_never_names_anything_are_all_told(
    out: Output, teller: Teller
) -> None:
    for piece in ("o", "k"):
        teller.delta("event", "text", piece)
    teller.text("event", "ok")
    for piece in ("o", "k"):
        teller.delta("event", "text", piece)
    teller.text("event", "ok")

    messages = out.take_messages()
    deltas = [message.text for message in messages if isinstance(message, Delta)]
    assert deltas == ["o", "k", "o", "k"]
    assert len([message for message in messages if isinstance(message, Text)]) == 2


def test_after_a_whole_text_the_next_message_streams_anew(out: Output, teller: Teller) -> None:
    for message_id in ("msg_1", "msg_2"):
        teller.delta("item", "text", "ok", message_id)
        teller.delta("event", "text", "ok")
        teller.text("item", "ok", message_id=message_id)
        teller.text("event", "ok")

    messages = out.take_messages()
    deltas = [message for message in messages if isinstance(message, Delta)]
    assert [(delta.message_id, delta.text) for delta in deltas] == [
        ("msg_1", "ok"),
        ("msg_2", "ok"),
    ]


def test_thoughts_stream_like_texts(out: Output, teller: Teller) -> None:
    teller.delta("item", "thinking", "hm", "rs_1")
    teller.delta("event", "thinking", "hm")
    teller.thinking("item", ["hm"], "rs_1")
    teller.delta("item", "thinking", "well", "rs_2")

    deltas = [message for message in out.take_messages() if isinstance(message, Delta)]
    assert [(delta.message_id, delta.text) for delta in deltas] == [
        ("rs_1", "hm"),
        ("rs_2", "well"),
    ]


def test_parts_that_stream_side_by_side_under_one_name_are_kept_apart(
    out: Output, teller: Teller
) -> None:
    teller.delta("item", "thinking", "one", "rs_1", part="#0")
    teller.delta("item", "thinking", "two", "rs_1", part="#1")
    teller.delta("event", "thinking", "two", "rs_1", part="#1")

    deltas = [message for message in out.take_messages() if isinstance(message, Delta)]
    assert [(delta.message_id, delta.text) for delta in deltas] == [
        ("rs_1", "one"),
        ("rs_1", "two"),
    ]


def test_a_piece_opens_no_turn(out: Output) -> None:
    teller = Teller(out, "codex", "s")
    teller.delta("event", "text", "x")

    assert not any(isinstance(message, TurnStarted) for message in out.take_messages())


def test_output_after_the_end_of_its_call_is_not_kept_for_an_abandoned_one(
    out: Output, teller: Teller
) -> None:
    teller.call("c", "Bash", "shell", {})
    teller.delta("event", "output", "al", "c")
    teller.result("c", "all")
    teller.delta("event", "output", "more", "c")
    teller.end_turn("completed")

    results = [message for message in out.take_messages() if isinstance(message, ToolResult)]
    assert [result.output for result in results] == ["all"]


def test_a_piece_without_a_name_does_not_belong_to_a_message_of_the_turn_before() -> None:
    out = Output(audit=False)
    teller = Teller(out, "codex", "s")
    teller.begin_turn("a")
    teller.delta("item", "text", "he", "msg_1")
    teller.end_turn("interrupted")
    teller.begin_turn("b")
    out.take_messages()
    teller.delta("event", "text", "wo")

    [delta] = out.take_messages()
    assert isinstance(delta, Delta)
    assert delta.message_id is None
