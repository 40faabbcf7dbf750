from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest

from dragoman.rehearsal.actions import Action, HangUp, Head, Wait
from dragoman.rehearsal.answers import StandInModel
from dragoman.rehearsal.openai.wire import ResponsesWire
from dragoman.rehearsal.places import call_id
from dragoman.rehearsal.reading import parse_script
from dragoman.rehearsal.requests import HttpRequest

_SHELL: dict[str, Any] = {
    "type": "function",
    "name": "exec_command",
    "parameters": {"properties": {}},
}
_PLAN = {"type": "function", "name": "update_plan"}


def _request(*calls: str, prompt: str = "hi", key: str = "one", **body: Any) -> HttpRequest:
    items: list[Any] = [{"role": "user", "content": prompt}]
    items += [{"type": "function_call_output", "call_id": call} for call in calls]
    whole = {"input": items, "tools": [_SHELL], "model": "m", "prompt_cache_key": key, **body}
    return HttpRequest(1, "POST", "/v1/responses", {}, msgspec.json.encode(whole))


def _ask(model: StandInModel, request: HttpRequest) -> list[Action]:
    wire = ResponsesWire()
    return list(model.answer(wire, model.ask(wire, request)))


def _events(actions: list[Action]) -> list[dict[str, Any]]:
    sent = [action for action in actions if isinstance(action, bytes)]
    found = [re.search(rb"^data: (.*)$", event, re.MULTILINE) for event in sent]
    return [msgspec.json.decode(data[1]) for data in found if data]


def _items(actions: list[Action]) -> list[dict[str, Any]]:
    events = _events(actions)
    return [event["item"] for event in events if event["type"] == "response.output_item.done"]


def _kinds(actions: list[Action]) -> list[str]:
    return [item["type"] for item in _items(actions)]


def _texts(actions: list[Action]) -> list[str]:
    return [item["content"][0]["text"] for item in _items(actions) if item["type"] == "message"]


def test_a_turn_is_played_response_by_response() -> None:
    model = StandInModel(parse_script("- think: hm\n- run: ls\n- tokens: {input: 7}\n- say: done"))

    first = _ask(model, _request())
    call = _items(first)[1]["call_id"]
    second = _ask(model, _request(call))

    assert _kinds(first) == ["reasoning", "function_call"]
    assert call.startswith("call_0_1_")
    assert _texts(second) == ["done"]
    assert _events(second)[-1]["response"]["usage"]["input_tokens"] == 7
    assert first[0] == Head(200, {"content-type": "text/event-stream", "cache-control": "no-cache"})


def test_a_step_without_a_tool_is_left_out_and_the_turn_goes_on() -> None:
    script = parse_script("- plan: [{doing: it}]\n- run: ls\n- say: done")

    without = _ask(StandInModel(script), _request())
    with_plan = _ask(StandInModel(script), _request(tools=[_SHELL, _PLAN]))

    assert [item["name"] for item in _items(without)] == ["exec_command"]
    assert _items(without)[0]["call_id"].startswith("call_0_2_")
    assert [item["name"] for item in _items(with_plan)] == ["update_plan"]


def test_words_without_a_call_do_not_end_the_turn_too_early() -> None:
    model = StandInModel(
        parse_script("- say: a\n- together: [{say: b}, {run: c}, {run: d}]\n- say: e")
    )

    first = _ask(model, _request())

    assert _kinds(first) == ["message", "message", "function_call", "function_call"]
    assert len({item["call_id"] for item in _items(first)[2:]}) == 2


def test_a_tool_is_searched_for_before_the_response_is_given() -> None:
    model = StandInModel(parse_script("- say: a\n- mcp: {server: tiny, tool: add}\n- say: done"))

    first = _ask(model, _request(tools=[{"type": "tool_search"}]))
    ident = _items(first)[0]["call_id"]
    found: dict[str, Any] = {"type": "tool_search_output", "call_id": ident, "tools": []}
    again = _request(input=[{"role": "user", "content": "hi"}, found])
    second = _ask(model, again)

    assert _kinds(first) == ["tool_search_call"]
    assert ident.startswith("call_0_0_")
    assert _kinds(second) == ["message", "function_call"]


def test_a_script_that_is_over_still_answers() -> None:
    model = StandInModel(
        parse_script("{turns: [{when: x, steps: [{say: y}]}], otherwise: Nothing.}")
    )

    assert _texts(_ask(model, _request())) == ["Nothing."]
    assert _texts(_ask(StandInModel(parse_script("turns: [[]]")), _request())) == [
        "The rehearsal script has nothing more to say."
    ]


def test_a_summary_names_the_place() -> None:
    model = StandInModel(parse_script("- run: a\n- say: b"))
    wanted = {"role": "user", "content": "You are performing a CONTEXT CHECKPOINT COMPACTION."}
    output = {"type": "function_call_output", "call_id": call_id(0, 1, 1)}

    answer = _ask(model, _request(input=[{"role": "user", "content": "hi"}, output, wanted]))

    assert "[rehearsal: turn 0, response 1]" in _texts(answer)[0]


def test_faults_are_counted_for_each_conversation() -> None:
    model = StandInModel(parse_script("- http: {status: 503, times: 2}\n- say: At last."))

    def status(key: str) -> int:
        head = _ask(model, _request(key=key))[0]
        assert isinstance(head, Head)
        return head.status

    assert [status(key) for key in ("a", "b", "a", "b", "a", "b")] == [503, 503, 503, 503, 200, 200]


@pytest.mark.parametrize(
    ("script", "ends"),
    [
        ("- say: a\n- drop", HangUp()),
        ("- drop: {unanswered: true}", HangUp()),
        ("- silence: 3", HangUp()),
        ("- fail: server_error", "response.failed"),
        ("- overflow", "response.failed"),
        ("- say: a\n- incomplete", "response.incomplete"),
        ("- garbage\n- say: a", "response.completed"),
        ("- headers: {a: b}\n- say: a", "response.completed"),
    ],
)
def test_an_answer_ends_as_the_script_says(script: str, ends: object) -> None:
    actions = _ask(StandInModel(parse_script(script)), _request())

    last = actions[-1]
    if isinstance(last, bytes):
        assert _events([last])[0]["type"] == ends
    else:
        assert last == ends


def test_a_text_can_be_cut_off() -> None:
    actions = _ask(StandInModel(parse_script("- drop: {saying: one two}")), _request())

    assert _items(actions) == []
    assert [event["delta"] for event in _events(actions) if "delta" in event] == ["one", " two"]


def test_waits_are_told_not_waited() -> None:
    slow = _ask(StandInModel(parse_script("- pause: 5\n- slow: 60\n- say: one two")), _request())
    silent = _ask(StandInModel(parse_script("- silence")), _request())

    assert [action.seconds for action in slow if isinstance(action, Wait)] == [5] + [60] * 7
    assert silent[-2:] == [Wait(None), HangUp()]


def test_headers_and_bodies_are_what_the_script_says() -> None:
    head = _ask(StandInModel(parse_script("- headers: {x-limit: '12'}\n- say: a")), _request())[0]
    refused = _ask(StandInModel(parse_script("- http: {status: 502, body: <html>}")), _request())

    assert isinstance(head, Head)
    assert head.headers["x-limit"] == "12"
    assert refused == [Head(502, {"content-type": "application/json"}, b"<html>")]
