"""Whole answers of the Messages API, without a socket."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
import pytest

from dragoman.rehearsal.actions import Action, HangUp, Head, Wait
from dragoman.rehearsal.answers import StandInModel
from dragoman.rehearsal.anthropic.wire import MessagesWire
from dragoman.rehearsal.reading import parse_script
from dragoman.rehearsal.requests import HttpRequest

_TOOLS: list[dict[str, Any]] = [
    {"name": name, "input_schema": {}} for name in ("Bash", "Edit", "Read", "Write")
]
_WIRE = MessagesWire()


def _request(
    *messages: Any, stream: bool = True, path: str = "/v1/messages", **body: Any
) -> HttpRequest:
    given = messages or ({"role": "user", "content": "hi"},)
    whole = {"model": "m", "messages": given, "tools": _TOOLS, "stream": stream, **body}
    headers = {"x-claude-code-session-id": "s"}
    return HttpRequest(1, "POST", path, headers, msgspec.json.encode(whole))


def _ask(script: str | StandInModel, request: HttpRequest | None = None) -> list[Action]:
    model = StandInModel(parse_script(script)) if isinstance(script, str) else script
    return list(model.answer(_WIRE, model.ask(_WIRE, request or _request())))


def _events(actions: list[Action]) -> list[dict[str, Any]]:
    found = [re.search(rb"^data: (.*)$", a, re.M) for a in actions if isinstance(a, bytes)]
    return [json.loads(data[1]) for data in found if data]


def _blocks(actions: list[Action]) -> list[str]:
    starts = [each for each in _events(actions) if each["type"] == "content_block_start"]
    return [each["content_block"].get("name", each["content_block"]["type"]) for each in starts]


def _reason(actions: list[Action]) -> str:
    return next(each["delta"]["stop_reason"] for each in _events(actions) if "usage" in each)


def test_a_response_ends_with_its_call_and_the_next_one_goes_on() -> None:
    model = StandInModel(parse_script("- think: hm\n- say: a\n- run: ls\n- say: done"))

    first = _ask(model)
    ident = next(
        each["content_block"]["id"]
        for each in _events(first)
        if each.get("content_block", {}).get("type") == "tool_use"
    )
    used = {"role": "assistant", "content": [{"type": "tool_use", "id": ident, "name": "Bash"}]}
    result = {"type": "tool_result", "tool_use_id": ident, "content": "files"}
    history = ({"role": "user", "content": "hi"}, used, {"role": "user", "content": [result]})
    second = _ask(model, _request(*history))

    assert _blocks(first) == ["thinking", "text", "Bash"]
    assert (_reason(first), _reason(second)) == ("tool_use", "end_turn")
    assert ident.startswith("toolu_0_1_")
    assert _blocks(second) == ["text"]
    assert model.ask(_WIRE, _request(*history)).outputs == ["files"]


def test_a_file_is_read_in_a_response_of_its_own() -> None:
    actions = _ask("- say: a\n- edit: {path: x, old: a, new: b}")

    assert _blocks(actions) == ["Read"]


def test_a_step_without_a_tool_is_left_out() -> None:
    actions = _ask("- plan: [{doing: it}]\n- search: rain\n- say: done")

    assert _blocks(actions) == ["text"]


@pytest.mark.parametrize(
    ("script", "ends"),
    [
        ("- say: a\n- drop", HangUp()),
        ("- drop: {saying: one two}", HangUp()),
        ("- drop: {unanswered: true}", HangUp()),
        ("- silence: 3", HangUp()),
        ("- say: a\n- fail: server_error", "error"),
        ("- say: a\n- incomplete", "message_stop"),
        ("- garbage\n- say: a", "message_stop"),
        ("- say: a", "message_stop"),
    ],
)
def test_an_answer_ends_as_the_script_says(script: str, ends: object) -> None:
    last = _ask(script)[-1]

    assert (_events([last])[0]["type"] if isinstance(last, bytes) else last) == ends


@pytest.mark.parametrize(
    ("reason", "known"),
    [
        ("max_output_tokens", "max_tokens"),
        ("content_filter", "refusal"),
        ("refusal", "refusal"),
        ("pause_turn", "pause_turn"),
    ],
)
def test_a_response_that_stops_early_says_why(reason: str, known: str) -> None:
    assert _reason(_ask(f"- say: a\n- incomplete: {reason}")) == known


def test_a_full_context_window_is_an_error_of_the_request() -> None:
    [head] = _ask("- overflow")

    assert isinstance(head, Head)
    assert head.status == 400
    assert b"prompt is too long" in (head.body or b"")


def test_waits_headers_and_tokens_are_what_the_script_says() -> None:
    script = "- headers: {x-limit: '1'}\n- pause: 5\n- tokens: {input: 70, cached: 50}\n- say: a"
    actions = _ask(script)

    head = actions[0]
    assert isinstance(head, Head)
    assert head.headers["x-limit"] == "1"
    assert Wait(5) in actions
    usage = _events(actions)[0]["message"]["usage"]
    assert (usage["input_tokens"], usage["cache_read_input_tokens"]) == (20, 50)


@pytest.mark.parametrize(
    ("script", "status", "words"),
    [
        ("- say: Hello.", 200, '"text":"Hello."'),
        ("- run: ls", 200, '"stop_reason":"tool_use"'),
        ("- say: a\n- incomplete", 200, '"stop_reason":"max_tokens"'),
        ("- fail: server_is_overloaded", 500, "overloaded_error"),
        ("- garbage: '{'", 200, "{"),
    ],
)
def test_without_a_stream_the_answer_comes_whole(script: str, status: int, words: str) -> None:
    [head] = _ask(script, _request(stream=False))

    assert isinstance(head, Head)
    assert head.status == status
    assert words in (head.body or b"").decode()


def test_without_a_stream_faults_are_met_as_well() -> None:
    whole = _request(stream=False)

    assert _ask("- drop", whole) == [HangUp()]
    assert _ask("- pause: 1\n- silence", whole) == [Wait(1), Wait(None), HangUp()]


def test_a_summary_has_the_tags_without_which_it_is_asked_for_again() -> None:
    words = "Your task is to create a detailed summary of the conversation so far."
    actions = _ask("- say: a", _request({"role": "user", "content": words}, stream=False))

    assert isinstance(actions[0], Head)
    assert b"<summary>" in (actions[0].body or b"")
    assert b"[rehearsal: turn 0, response 0]" in (actions[0].body or b"")


def test_tokens_are_counted_and_auxiliary_requests_answered_without_the_script() -> None:
    counted = _WIRE.auxiliary(_request(path="/v1/messages/count_tokens?beta=true"), 1)
    suggestion = _request({"role": "user", "content": "[SUGGESTION MODE: what next?]"})
    suggested = _WIRE.auxiliary(suggestion, 1)

    assert counted is not None
    [head] = counted
    assert isinstance(head, Head)
    assert json.loads(head.body or b"")["input_tokens"] > 10
    assert suggested is not None
    assert _blocks(list(suggested)) == ["text"]
    assert _WIRE.auxiliary(_request(), 1) is None


def test_a_conversation_is_known_by_its_session() -> None:
    assert _WIRE.history(_request()).conversation == "s"
    bare = HttpRequest(1, "POST", "/v1/messages", {}, b'{"metadata": {"user_id": "u"}}')
    assert _WIRE.history(bare).conversation == "u"
    odd = HttpRequest(1, "POST", "/v1/messages", {}, b'{"metadata": 3, "messages": {}}')
    assert _WIRE.history(odd).conversation == ""
