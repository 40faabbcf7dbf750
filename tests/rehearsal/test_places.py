from __future__ import annotations

from typing import Any

import msgspec
import pytest

from dragoman.rehearsal.openai.wire import ResponsesWire
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
"""
)
_Item = dict[str, Any]


def _place(*items: _Item, script: Any = _SCRIPT, **headers: str) -> ScriptPlace:
    raw = msgspec.json.encode({"input": items})
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    request = HttpRequest(1, "POST", "/v1/responses", names, raw)
    wire = ResponsesWire()
    return wire.place(script, request, wire.history(request))


def _user(*texts: str) -> _Item:
    content = [{"type": "input_text", "text": text} for text in texts]
    return {"type": "message", "role": "user", "content": content}


def _said(text: str) -> _Item:
    content = [{"type": "output_text", "text": text}]
    return {"type": "message", "role": "assistant", "content": content}


def _used(turn: int, following: int) -> list[_Item]:
    ident = call_id(turn, following, 7)
    call = {"type": "function_call", "call_id": ident, "name": "shell", "arguments": "{}"}
    return [call, {"type": "function_call_output", "call_id": ident, "output": "x"}]


_ENVIRONMENT = _user("<environment_context>\n  <cwd>/w</cwd>\n</environment_context>")
_RULES = _user("# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nbe kind\n</INSTRUCTIONS>")


def _where(place: ScriptPlace) -> tuple[int | None, int]:
    return place.turn, place.response


def test_the_first_prompt_begins_the_first_turn() -> None:
    place = _place(_RULES, _ENVIRONMENT, _user("hi"))

    assert place == ScriptPlace(0, 0, "hi", 1, "prompt", False)


def test_a_call_says_how_far_the_turn_has_come() -> None:
    assert _where(_place(_user("hi"), *_used(0, 1))) == (0, 1)
    assert _where(_place(_user("hi"), *_used(0, 1), *_used(0, 2))) == (0, 2)


def test_the_next_prompt_begins_the_next_turn_also_when_context_is_repeated() -> None:
    first = (_user("hi"), *_used(0, 1), *_used(0, 2), _said("done"))

    assert _where(_place(*first, _user("more"))) == (1, 0)
    assert _where(_place(_RULES, *first, _RULES, _ENVIRONMENT, _user("more"))) == (1, 0)


def test_context_in_front_of_a_prompt_in_one_message_is_not_part_of_it() -> None:
    place = _place(_user("<environment_context>x</environment_context>", "hi"))

    assert place.prompt == "hi"


def test_a_turn_that_failed_is_over() -> None:
    assert _where(_place(_user("hi"), _user("again"))) == (1, 0)


def test_a_turn_can_wait_for_its_prompt() -> None:
    assert _where(_place(_user("now CHILD"))) == (2, 0)
    assert _where(_place(_user("CHILD"), *_used(2, 1))) == (2, 1)
    assert _where(_place(_user("CHILD"), _said("a"), _user("CHILD again"))) == (2, 0)
    assert _where(_place(_user("CHILD"), _said("a"), _user("hi"))) == (0, 0)


def test_when_no_turn_is_left_the_script_is_over() -> None:
    over = (_user("hi"), _said("done"), _user("more"), _said("second"), _user("and?"))

    assert _where(_place(*over)) == (None, 0)


def test_words_put_in_while_the_last_turn_goes_on_do_not_end_it() -> None:
    script = parse_script("- run: one\n- run: two\n- say: done")

    assert _where(_place(_user("hi"), *_used(0, 1), _user("quick"), script=script)) == (0, 1)
    ended = (_user("hi"), *_used(0, 2), _said("done"), _user("more"))
    assert _where(_place(*ended, script=script)) == (None, 0)


def test_something_that_looks_like_a_prompt_in_the_middle_of_a_turn_uses_up_no_turn() -> None:
    odd = _user("Something that a release says in the user's name")
    first = (_user("hi"), odd, *_used(0, 1), *_used(0, 2), _said("done"))

    assert _where(_place(*first, _user("more"))) == (1, 0)


@pytest.mark.parametrize("prompt", ["CONTEXT CHECKPOINT COMPACTION", "<compaction_request>"])
def test_a_summary_carries_the_place_on(prompt: str) -> None:
    asked = _place(_user("hi"), *_used(0, 1), _user(f"You are performing a {prompt}."))
    assert (asked.purpose, *_where(asked)) == ("summary", 0, 1)

    summary = _user(f"Another language model started to solve this problem… {asked.mark}")
    assert _where(_place(_user("hi"), summary)) == (0, 1)
    assert _where(_place(_user("hi"), summary, _ENVIRONMENT, _user("more"))) == (1, 0)


def test_a_helper_of_the_agent_only_takes_turns_that_wait_for_it() -> None:
    spawned = {"x_openai_subagent": "collab_spawn"}
    task = {"type": "agent_message", "content": [{"text": "Message Type: NEW_TASK\nadd"}]}
    parent = (_user("hi"), *_used(0, 1))

    assert _where(_place(_user("add"), **spawned)) == (None, 0)
    assert _where(_place(_user("CHILD add"), **spawned)) == (2, 0)
    assert _where(_place(*parent, task, **spawned)) == (None, 0)
    assert _place(*parent, task, **spawned).purpose == "agent"
    assert _where(_place(_user("look"), x_openai_subagent="review")) == (0, 0)


def test_news_after_the_last_word_do_not_repeat_it() -> None:
    ended = (_user("hi"), *_used(0, 2), _said("done"))
    news = _user("<subagent_notification>\n{}\n</subagent_notification>")
    letter = {"type": "agent_message", "content": [{"text": "Message Type: FINAL_ANSWER"}]}

    assert _where(_place(*ended, news)) == (None, 0)
    assert _where(_place(*ended, letter)) == (None, 0)
    assert _where(_place(*ended)) == (0, 2), "a lost stream is repeated from where it was"


def test_a_search_for_tools_is_remembered() -> None:
    ident = call_id(0, 0, 1)
    search: _Item = {"type": "tool_search_call", "call_id": ident, "arguments": {}}
    found: _Item = {"type": "tool_search_output", "call_id": ident, "tools": []}

    place = _place(_user("hi"), search, found)

    assert (*_where(place), place.prepared) == (0, 0, True)


def test_a_history_that_another_script_has_made_is_no_place_here() -> None:
    assert _where(_place(_user("hi"), *_used(9, 1)))[0] is None


def test_what_is_said_while_the_turn_goes_on_is_a_steer_and_not_the_next_prompt() -> None:
    steered = [_user("hi"), *_used(0, 1), _user("only the parser")]

    assert _where(_place(*steered)) == (0, 1)
    assert _where(_place(*steered, *_used(0, 2))) == (0, 2)
    over = [*steered, *_used(0, 2), _said("done"), _user("and now?")]
    assert _where(_place(*over)) == (1, 0)


def test_after_an_interrupt_the_next_words_are_a_prompt() -> None:
    [call, output] = _used(0, 1)
    aborted = {**output, "output": "aborted by user after 1.0s"}
    marker = _user(
        "<turn_aborted>\nThe user interrupted the previous turn on purpose.\n</turn_aborted>"
    )

    assert _where(_place(_user("hi"), call, aborted, _user("and now?"))) == (1, 0)
    assert _where(_place(_user("hi"), call, output, marker, _user("and now?"))) == (1, 0)


def test_after_a_fault_the_next_words_are_a_prompt() -> None:
    script = parse_script("turns:\n- - run: one\n  - fail: server_is_overloaded\n- - say: second")

    assert _where(_place(_user("hi"), *_used(0, 1), _user("again"), script=script)) == (1, 0)


def test_a_picture_is_part_of_its_prompt() -> None:
    prompt = _user("look", '<image name=[Image #1] path="/w/pixel.png">', "</image>")

    assert _place(_ENVIRONMENT, prompt) == ScriptPlace(0, 0, "look", 1, "prompt", False)
    assert _where(_place(prompt, _said("done"), _user("again"))) == (1, 0)


def test_what_cuts_the_first_words_of_a_turn_short_is_a_steer() -> None:
    """Codex drops a text that is under way, and asks again with the steer; only the turn's id tells."""
    wire = ResponsesWire()

    def place(turn_id: str, *items: _Item) -> tuple[int | None, int]:
        names = {"x-codex-turn-metadata": f'{{"turn_id":"{turn_id}"}}'}
        request = HttpRequest(
            1, "POST", "/v1/responses", names, msgspec.json.encode({"input": items})
        )
        return _where(wire.place(_SCRIPT, request, wire.history(request)))

    assert place("t1", _user("hi")) == (0, 0)
    assert place("t1", _user("hi"), _user("only the parser")) == (0, 0)
    assert place("t2", _user("hi"), _user("again")) == (1, 0)
    assert _where(_place(_user("hi"), _user("again"), x_codex_turn_metadata="no JSON")) == (1, 0)
