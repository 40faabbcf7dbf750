from __future__ import annotations

from typing import Any

import msgspec
import pytest

from dragoman.rehearsal.anthropic.wire import MessagesWire
from dragoman.rehearsal.places import ScriptPlace, call_id
from dragoman.rehearsal.reading import parse_script
from dragoman.rehearsal.requests import HttpRequest

_SCRIPT = parse_script(
    """\
turns:
- - run: one
  - run: two
  - say: done
- say: second
- {when: CHILD, steps: [{run: three}, {say: child}]}
- say: third
"""
)
_Message = dict[str, Any]
_REMINDER = "<system-reminder>\nToday is a day.\n</system-reminder>"


def _place(*messages: _Message, script: Any = _SCRIPT, **headers: str) -> ScriptPlace:
    raw = msgspec.json.encode({"messages": messages})
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    request = HttpRequest(1, "POST", "/v1/messages", names, raw)
    wire = MessagesWire()
    return wire.place(script, request, wire.history(request))


def _user(*texts: str) -> _Message:
    return {"role": "user", "content": [{"type": "text", "text": text} for text in texts]}


def _said(text: str) -> _Message:
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


def _used(turn: int, following: int, *more: str, before: str = "") -> list[_Message]:
    ident = call_id(turn, following, 7, prefix="toolu", before=before)
    use: _Message = {"type": "tool_use", "id": ident, "name": "Bash", "input": {}}
    result = {"type": "tool_result", "tool_use_id": ident, "content": "x"}
    texts = [{"type": "text", "text": text} for text in more]
    return [
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result, *texts]},
    ]


def _where(place: ScriptPlace) -> tuple[int | None, int]:
    return place.turn, place.response


def test_reminders_are_not_part_of_a_prompt() -> None:
    system = {"role": "system", "content": "# Environment"}

    assert _place(_user(_REMINDER, "hi"), system) == ScriptPlace(0, 0, "hi", 1, "prompt", False)
    assert _place({"role": "user", "content": "hi"}) == ScriptPlace(0, 0, "hi", 1, "prompt", False)


def test_calls_say_how_far_the_turn_has_come_and_prompts_take_the_next_turn() -> None:
    first = (_user("hi"), *_used(0, 1), *_used(0, 2, _REMINDER))

    assert _where(_place(*first)) == (0, 2)
    assert _where(_place(*first, _said("done"), _user("more"))) == (1, 0)
    assert _where(_place(*first, _said("done"), _user("now CHILD"))) == (2, 0)


def test_a_turn_that_failed_is_over_though_its_prompt_stays_in_the_message() -> None:
    assert _where(_place(_user("hi", "again"))) == (1, 0)
    assert _place(_user("hi", "now CHILD")).prompt == "now CHILD"


def test_a_call_that_prepares_a_response_leads_back_to_it() -> None:
    place = _place(_user("hi"), *_used(0, 1), *_used(0, 1, before="b"))

    assert (*_where(place), place.prepared) == (0, 1, True)
    assert not _place(_user("hi"), *_used(0, 1)).prepared


def test_words_put_in_while_the_turn_goes_on_are_a_steer() -> None:
    steer = (
        "<system-reminder>\nThe user sent a new message while you were working:\nonly the parser\n\n"
        "This is how Claude Code surfaces messages the user sends mid-turn.\n</system-reminder>"
    )

    place = _place(_user("hi"), *_used(0, 1, steer))

    assert (*_where(place), place.prompt) == (0, 1, "only the parser")
    assert _where(_place(_user("hi"), *_used(0, 1, "only the parser"))) == (0, 1)


def test_after_an_interrupt_the_next_words_are_a_prompt() -> None:
    stopped = "[Request interrupted by user for tool use]"

    assert _where(_place(_user("hi"), *_used(0, 1, stopped), _user("more"))) == (1, 0)
    assert _where(_place(_user("hi"), *_used(0, 1, stopped, "more"))) == (1, 0)


@pytest.mark.parametrize(
    "words",
    [
        "Output token limit hit. Resume directly.",
        "Your response above was cut off mid-stream. Resume directly.",
        "Your response above was stopped by a safety classifier.",
    ],
)
def test_an_answer_that_was_cut_short_is_asked_for_again(words: str) -> None:
    place = _place(_user("hi"), *_used(0, 1), _said("part"), _user(words))

    assert (*_where(place), place.prompt, place.prompts) == (0, 1, "hi", 1)


def test_a_summary_carries_the_place_on() -> None:
    wanted = _user("CRITICAL: TEXT ONLY.\n\nYour task is to create a detailed summary of the conv")
    asked = _place(_user("hi"), _said("a"), _user("more"), _said("b"), wanted)
    assert (asked.purpose, *_where(asked)) == ("summary", 1, 0)

    summary = _user(f"This session is being continued from a previous conversation. {asked.mark}")
    assert _where(_place(summary, _user(_REMINDER, "and now?"))) == (3, 0)


def test_a_helper_only_takes_turns_that_wait_for_it() -> None:
    helper = {"x_claude_code_agent_id": "a1"}

    assert _where(_place(_user("add"), **helper)) == (None, 0)
    assert _where(_place(_user("CHILD add"), **helper)) == (2, 0)
    assert _place(_user("add"), **helper).purpose == "agent"


def test_news_after_the_last_word_do_not_repeat_it() -> None:
    news = _user("<task-notification>\n<task-id>a</task-id>\n</task-notification>")

    assert _where(_place(_user("hi"), *_used(0, 2), _said("done"), news)) == (None, 0)


def test_a_history_of_any_shape_has_a_place() -> None:
    odd: list[_Message] = [
        {"role": "assistant", "content": None},
        {"role": "assistant", "content": "text"},
        {"role": "user", "content": [1, {"type": "image"}]},
        {},
    ]

    assert _where(_place(*odd)) == (None, 0)


def test_a_picture_is_part_of_its_prompt() -> None:
    prompt = _user("look", "[Image: source: /tmp/claude/images/1.png]")
    prompt["content"].insert(0, {"type": "image", "source": {"type": "base64", "data": ""}})

    assert _place(prompt) == ScriptPlace(0, 0, "look", 1, "prompt", False)
    assert _where(_place(prompt, *_used(0, 1))) == (0, 1)
    assert _where(_place(prompt, _said("done"), _user("again"))) == (1, 0)
