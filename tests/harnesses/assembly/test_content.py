from __future__ import annotations

import pytest

from dragoman.harnesses.assembly.assembler import SessionAssembler
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
from support.assembling import reasons

# Prompts and context.


def test_a_prompt_keeps_its_pictures(out: Output, session: SessionAssembler) -> None:
    session.prompt("event", "look", ["/workspace/pic.png"])

    assert out.take_messages() == [
        Prompt(session_id="s", turn_id="t", text="look", images=["/workspace/pic.png"])
    ]


def test_a_prompt_told_by_two_channels_is_one_prompt(
    out: Output, session: SessionAssembler
) -> None:
    session.prompt("event", "do it")
    session.prompt("item", "do it", item_id="u1")
    session.prompt("item", "do it", item_id="u1")

    assert len(out.take_messages()) == 1
    assert reasons(out) == ["prompt: emitted before", "prompt: emitted before"]


def test_a_user_who_asks_twice_is_heard_twice(out: Output, session: SessionAssembler) -> None:
    for channel in ("event", "item"):
        session.prompt(channel, "again")
        session.prompt(channel, "again")

    assert [type(message) for message in out.take_messages()] == [Prompt, Prompt]


def test_context_is_told_as_often_as_it_comes_and_opens_no_turn(out: Output) -> None:
    session = SessionAssembler(out, "codex", "s")
    session.context("developer", "<permissions>")
    session.context("developer", "<permissions>")

    assert out.take_messages() == 2 * [
        Context(session_id="s", role="developer", text="<permissions>")
    ]


# Texts.


def test_a_text_carries_its_phase_and_its_name(out: Output, session: SessionAssembler) -> None:
    session.text("item", "Looking.", phase="commentary", message_id="msg_1")

    assert out.take_messages() == [
        Text(session_id="s", turn_id="t", text="Looking.", phase="commentary", message_id="msg_1")
    ]
    assert session.turn_has_text
    assert session.agent_spoke


def test_a_text_is_told_once_by_name_and_once_by_words(
    out: Output, session: SessionAssembler
) -> None:
    session.text("item", "ok", message_id="msg_1")
    session.text("row", "ok", message_id="msg_1")
    session.text("event", "ok")

    assert len(out.take_messages()) == 1
    assert reasons(out) == ["text: emitted before", "text: emitted before"]


def test_two_messages_with_the_same_words_are_two(out: Output, session: SessionAssembler) -> None:
    for channel in ("item", "row"):
        session.text(channel, "ok", message_id="msg_1")
        session.text(channel, "ok", message_id="msg_2")

    texts = [message for message in out.take_messages() if isinstance(message, Text)]
    assert [text.message_id for text in texts] == ["msg_1", "msg_2"]


def test_texts_that_share_a_message_id_are_told_apart_by_their_item_id(
    out: Output, session: SessionAssembler
) -> None:
    for channel in ("stream", "file"):
        session.text(channel, "ok", message_id="msg_1", item_id="msg_1.0")
        session.text(channel, "ok", message_id="msg_1", item_id="msg_1.1")

    texts = [message for message in out.take_messages() if isinstance(message, Text)]
    assert [(text.message_id, text.item_id) for text in texts] == [
        ("msg_1", "msg_1.0"),
        ("msg_1", "msg_1.1"),
    ]


def test_two_texts_under_one_message_id_are_both_emitted(
    out: Output, session: SessionAssembler
) -> None:
    session.text("file", "First.", message_id="msg_1")
    session.text("file", "Second.", message_id="msg_1")

    texts = [message for message in out.take_messages() if isinstance(message, Text)]
    assert [text.text for text in texts] == ["First.", "Second."]


def test_the_next_turn_may_say_the_same(out: Output, session: SessionAssembler) -> None:
    session.text("event", "ok")
    session.end_turn("completed")
    session.begin_turn("u")
    session.text("event", "ok")

    texts = [message for message in out.take_messages() if isinstance(message, Text)]
    assert [text.turn_id for text in texts] == ["t", "u"]


def test_an_empty_text_says_nothing(out: Output, session: SessionAssembler) -> None:
    session.text("event", "")

    assert out.take_messages() == []
    assert reasons(out) == ["text: empty"]


def test_it_can_be_asked_whether_a_text_would_be_a_repetition(
    out: Output, session: SessionAssembler
) -> None:
    session.text("event", "ok", message_id="msg_1")

    assert session.knows_text("row", "ok", None)
    assert session.knows_text("row", "other words", "msg_1")
    assert not session.knows_text("row", "other words", None)
    assert not session.knows_text("event", "ok", None)


def test_a_text_whose_name_is_known_is_a_duplicate_without_looking_at_its_words(
    out: Output, session: SessionAssembler
) -> None:
    session.text("item", "ok", message_id="msg_1")

    assert session.repeats_text("msg_1")
    assert not session.repeats_text("msg_2")
    assert reasons(out) == ["text: emitted before"]


def test_a_repeated_text_is_the_agent_s_last_word_all_the_same(
    out: Output, session: SessionAssembler
) -> None:
    session.says_ends = False
    session.text("item", "ok", message_id="msg_1")
    session.prompt("item", "thanks")
    session.repeats_text("msg_1")
    session.leave()

    end = out.take_messages()[-1]
    assert isinstance(end, TurnEnded)
    assert end.outcome == "completed"


# Thoughts.


def test_a_thought_whose_name_is_known_is_a_duplicate(
    out: Output, session: SessionAssembler
) -> None:
    session.thinking("item", ["hm"], "rs_1")

    assert session.repeats_thought("rs_1")
    assert not session.repeats_thought("rs_2")
    assert reasons(out) == ["thinking: emitted before, or not shown"]


def test_each_part_of_a_thought_is_a_message(out: Output, session: SessionAssembler) -> None:
    session.thinking("item", ["**Look**", "**Patch**"], "rs_1")

    assert out.take_messages() == [
        Thinking(session_id="s", turn_id="t", text="**Look**", item_id="rs_1"),
        Thinking(session_id="s", turn_id="t", text="**Patch**", item_id="rs_1"),
    ]


def test_only_the_parts_that_no_channel_told_are_new(
    out: Output, session: SessionAssembler
) -> None:
    session.thinking("event", ["**Look**"])
    session.thinking("row", ["**Look**", "**Patch**", ""], "rs_1")
    session.thinking("item", ["changed since"], "rs_1")

    thoughts = [message for message in out.take_messages() if isinstance(message, Thinking)]
    assert [thought.text for thought in thoughts] == ["**Look**", "**Patch**", "changed since"]
    assert reasons(out) == []


def test_a_thought_outside_a_turn_opens_one(out: Output) -> None:
    session = SessionAssembler(out, "codex", "s")
    session.thinking("event", ["hm"])

    assert [type(message) for message in out.take_messages()] == [TurnStarted, Thinking]


@pytest.mark.parametrize("parts", [[], [""]])
def test_a_thought_that_is_not_shown_is_not_told(
    out: Output, session: SessionAssembler, parts: list[str]
) -> None:
    session.thinking("row", parts, "rs_1")

    assert out.take_messages() == []
    assert reasons(out) == ["thinking: emitted before, or not shown"]


# Pieces.


def test_a_piece_without_a_name_belongs_to_the_message_named_last(
    out: Output, session: SessionAssembler
) -> None:
    session.delta("item", "text", "Look", "msg_1")
    session.delta("event", "text", "Look")
    session.delta("event", "text", "ing.")
    session.delta("item", "text", "ing.", "msg_1")

    assert out.take_messages() == [
        Delta(session_id="s", turn_id="t", of="text", message_id="msg_1", text="Look"),
        Delta(session_id="s", turn_id="t", of="text", message_id="msg_1", text="ing."),
    ]
    assert reasons(out) == ["delta: emitted before", "delta: emitted before"]


def test_pieces_of_one_channel_that_never_names_anything_are_all_told(
    out: Output, session: SessionAssembler
) -> None:
    for piece in ("o", "k"):
        session.delta("event", "text", piece)
    session.text("event", "ok")
    for piece in ("o", "k"):
        session.delta("event", "text", piece)
    session.text("event", "ok")

    messages = out.take_messages()
    deltas = [message.text for message in messages if isinstance(message, Delta)]
    assert deltas == ["o", "k", "o", "k"]
    assert len([message for message in messages if isinstance(message, Text)]) == 2


def test_after_a_whole_text_the_next_message_streams_anew(
    out: Output, session: SessionAssembler
) -> None:
    for message_id in ("msg_1", "msg_2"):
        session.delta("item", "text", "ok", message_id)
        session.delta("event", "text", "ok")
        session.text("item", "ok", message_id=message_id)
        session.text("event", "ok")

    messages = out.take_messages()
    deltas = [message for message in messages if isinstance(message, Delta)]
    assert [(delta.message_id, delta.text) for delta in deltas] == [
        ("msg_1", "ok"),
        ("msg_2", "ok"),
    ]


def test_thoughts_stream_like_texts(out: Output, session: SessionAssembler) -> None:
    session.delta("item", "thinking", "hm", "rs_1")
    session.delta("event", "thinking", "hm")
    session.thinking("item", ["hm"], "rs_1")
    session.delta("item", "thinking", "well", "rs_2")

    deltas = [message for message in out.take_messages() if isinstance(message, Delta)]
    assert [(delta.message_id, delta.text) for delta in deltas] == [
        ("rs_1", "hm"),
        ("rs_2", "well"),
    ]


def test_parts_that_stream_side_by_side_under_one_name_are_kept_apart(
    out: Output, session: SessionAssembler
) -> None:
    session.delta("item", "thinking", "one", "rs_1", part="#0")
    session.delta("item", "thinking", "two", "rs_1", part="#1")
    session.delta("event", "thinking", "two", "rs_1", part="#1")

    deltas = [message for message in out.take_messages() if isinstance(message, Delta)]
    assert [(delta.message_id, delta.text) for delta in deltas] == [
        ("rs_1", "one"),
        ("rs_1", "two"),
    ]


def test_a_piece_opens_no_turn(out: Output) -> None:
    session = SessionAssembler(out, "codex", "s")
    session.delta("event", "text", "x")

    assert not any(isinstance(message, TurnStarted) for message in out.take_messages())


def test_output_after_the_end_of_its_call_is_not_kept_for_an_abandoned_one(
    out: Output, session: SessionAssembler
) -> None:
    session.call("c", "Bash", "shell", {})
    session.delta("event", "output", "al", "c")
    session.result("c", "all")
    session.delta("event", "output", "more", "c")
    session.end_turn("completed")

    results = [message for message in out.take_messages() if isinstance(message, ToolResult)]
    assert [result.output for result in results] == ["all"]


def test_a_piece_without_a_name_does_not_belong_to_a_message_of_the_turn_before() -> None:
    out = Output(audit=False)
    session = SessionAssembler(out, "codex", "s")
    session.begin_turn("a")
    session.delta("item", "text", "he", "msg_1")
    session.end_turn("interrupted")
    session.begin_turn("b")
    out.take_messages()
    session.delta("event", "text", "wo")

    [delta] = out.take_messages()
    assert isinstance(delta, Delta)
    assert delta.message_id is None
