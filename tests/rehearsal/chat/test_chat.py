"""Whole answers of chat completions, without a socket."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from dragoman.rehearsal.actions import Action, HangUp, Head, Wait
from dragoman.rehearsal.answers import StandInModel
from dragoman.rehearsal.chat.wire import ChatWire
from dragoman.rehearsal.reading import parse_script
from dragoman.rehearsal.requests import HttpRequest
from rehearsal.functions.declared import OPENCODE, as_chat

_WIRE = ChatWire()
_HI = {"role": "user", "content": "hi"}


def _request(*messages: Any, headers: dict[str, str] | None = None, **body: Any) -> HttpRequest:
    system = {"role": "system", "content": "You are an agent.\nWorking directory: /w"}
    whole = {"model": "m", "messages": [system, *(messages or (_HI,))], "stream": True}
    whole |= {"tools": as_chat(OPENCODE), **body}
    raw = msgspec.json.encode(whole)
    return HttpRequest(1, "POST", "/v1/chat/completions", headers or {}, raw)


def _ask(script: str | StandInModel, request: HttpRequest | None = None) -> list[Action]:
    model = StandInModel(parse_script(script)) if isinstance(script, str) else script
    return list(model.answer(_WIRE, model.ask(_WIRE, request or _request())))


def _chunks(actions: list[Action]) -> list[dict[str, Any]]:
    texts = [each.decode().removeprefix("data: ") for each in actions if isinstance(each, bytes)]
    return [json.loads(text) for text in texts if text.startswith("{") and "object" in text]


def _deltas(actions: list[Action]) -> list[dict[str, Any]]:
    return [choice["delta"] for chunk in _chunks(actions) for choice in chunk["choices"]]


def _text(actions: list[Action]) -> str:
    return "".join(delta.get("content", "") for delta in _deltas(actions))


def _called(actions: list[Action]) -> tuple[str, str, dict[str, Any]]:
    pieces = [each for delta in _deltas(actions) for each in delta.get("tool_calls", [])]
    arguments = "".join(piece["function"]["arguments"] for piece in pieces)
    return pieces[0]["id"], pieces[0]["function"]["name"], json.loads(arguments)


def test_a_response_ends_with_its_call_and_the_next_one_goes_on() -> None:
    model = StandInModel(parse_script("- think: hm\n- say: a word\n- run: ls\n- say: done"))

    first = _ask(model)
    ident, name, arguments = _called(first)
    call = {"id": ident, "type": "function", "function": {"name": name, "arguments": "{}"}}
    history = (
        _HI,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": ident, "content": "files"},
    )
    second = _ask(model, _request(*history))

    assert "".join(delta.get("reasoning_content", "") for delta in _deltas(first)) == "hm"
    assert (_text(first), _text(second)) == ("a word", "done")
    assert (name, arguments) == ("bash", {"command": "ls"})
    assert ident.startswith("call_0_1_")
    ends = [c["choices"][0]["finish_reason"] for c in _chunks(second) if c["choices"]]
    assert ends[-1] == "stop"
    assert first[-1] == b"data: [DONE]\n\n"
    assert model.ask(_WIRE, _request(*history)).outputs == ["files"]


def test_what_it_cost_comes_last() -> None:
    actions = _ask("- tokens: {input: 1234, cached: 1000, output: 56, reasoning: 7}\n- say: hi")

    usage = _chunks(actions)[-1]["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (1234, 56)
    assert usage["prompt_tokens_details"] == {"cached_tokens": 1000}
    assert usage["completion_tokens_details"] == {"reasoning_tokens": 7}


def test_a_request_without_a_stream_gets_the_whole_completion() -> None:
    head = _ask("- think: hm\n- say: a\n- run: ls", _request(stream=False))[0]

    assert isinstance(head, Head)
    message = json.loads(head.body or b"")["choices"][0]["message"]
    assert (message["content"], message["reasoning_content"]) == ("a", "hm")
    assert message["tool_calls"][0]["function"]["name"] == "bash"


@pytest.mark.parametrize(
    ("step", "status", "words"),
    [
        ("http: 401", 401, "Incorrect API key"),
        ("http: {status: 429, headers: {retry-after: '0'}}", 429, "Rate limit"),
        ("overflow", 400, "context_length_exceeded"),
    ],
)
def test_an_error_is_the_whole_answer(step: str, status: int, words: str) -> None:
    (head,) = _ask(f"- {step}")

    assert isinstance(head, Head)
    assert (head.status, words in (head.body or b"").decode()) == (status, True)


def test_faults_in_the_middle_of_a_stream() -> None:
    assert isinstance(_ask("- drop: {saying: cut off}")[-1], HangUp)
    assert _text(_ask("- drop: {saying: cut off}")) == "cut off"
    assert b'"error"' in bytes(_ask("- fail: server_error")[-1])  # pyright: ignore[reportArgumentType]
    assert Wait(None) in _ask("- silence")
    assert any(
        b"data: {broken" in each for each in _ask("- garbage: '{broken'") if isinstance(each, bytes)
    )
    cut = _chunks(_ask("- say: a\n- incomplete: max_tokens"))
    assert cut[-2]["choices"][0]["finish_reason"] == "length"


def test_a_sub_agent_takes_only_turns_for_its_prompt() -> None:
    model = StandInModel(
        parse_script(
            "turns:\n- [agent: 'HELPER: go', say: mine]\n- [say: yours]\n"
            "- {when: HELPER, steps: [say: helped]}"
        )
    )
    helper = _request({"role": "user", "content": "HELPER: go"})
    child = _request(_HI, headers={"x-parent-session-id": "s"})

    assert _text(_ask(model, helper)) == "helped"
    assert model.ask(_WIRE, helper).place.purpose == "agent"
    assert model.ask(_WIRE, child).place.turn is None


def test_a_prompt_after_an_interrupted_command_is_a_turn_of_its_own() -> None:
    model = StandInModel(parse_script("turns: [[run: sleep 9, run: ls, say: one], [say: two]]"))
    ident, name, _ = _called(_ask(model))
    call = {"id": ident, "function": {"name": name, "arguments": "{}"}}
    output = {"role": "tool", "tool_call_id": ident, "content": "Tool execution aborted"}
    history = (_HI, {"role": "assistant", "tool_calls": [call]}, output, {**_HI, "content": "next"})

    assert _text(_ask(model, _request(*history))) == "two"


def test_the_agents_own_requests_take_no_step() -> None:
    title = _request(
        {"role": "user", "content": "Generate a title for this conversation:"}, tools=[]
    )
    schema: dict[str, Any] = {"type": "object", "properties": {"shouldBlock": {"type": "boolean"}}}
    schema["required"] = ["shouldBlock"]
    form = {"type": "json_schema", "json_schema": {"schema": schema}}

    assert _WIRE.auxiliary(_request(), 1) is None
    assert "Rehearsal" in _text(list(_WIRE.auxiliary(title, 1) or ()))
    verdict = _WIRE.auxiliary(_request(response_format=form), 1)
    assert json.loads(_text(list(verdict or ()))) == {"shouldBlock": False}
