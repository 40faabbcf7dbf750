"""Whole answers of the Gemini API, without a socket."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from dragoman.rehearsal.actions import Action, HangUp, Head, Wait
from dragoman.rehearsal.answers import StandInModel
from dragoman.rehearsal.gemini.wire import GeminiWire
from dragoman.rehearsal.reading import parse_script
from dragoman.rehearsal.requests import HttpRequest
from rehearsal.functions.declared import GEMINI, as_gemini

_WIRE = GeminiWire()
_STREAM = ":streamGenerateContent?alt=sse"
_CONTEXT = "<session_context>\n- **Workspace Directories:**\n  - /w\n</session_context>"


def _user(*texts: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": text} for text in texts]}


def _request(*contents: Any, method: str = _STREAM, **body: Any) -> HttpRequest:
    whole = {"contents": contents or (_user(_CONTEXT, "hi"),), "tools": as_gemini(GEMINI), **body}
    path = f"/v1beta/models/gemini-2.5-flash{method}"
    return HttpRequest(1, "POST", path, {}, msgspec.json.encode(whole))


def _ask(script: str | StandInModel, request: HttpRequest | None = None) -> list[Action]:
    model = StandInModel(parse_script(script)) if isinstance(script, str) else script
    return list(model.answer(_WIRE, model.ask(_WIRE, request or _request())))


def _bodies(actions: list[Action]) -> list[dict[str, Any]]:
    texts = [each.decode().removeprefix("data: ") for each in actions if isinstance(each, bytes)]
    return [json.loads(text) for text in texts if "candidates" in text]


def _parts(actions: list[Action]) -> list[dict[str, Any]]:
    return [part for body in _bodies(actions) for part in body["candidates"][0]["content"]["parts"]]


def _text(actions: list[Action], *, thought: bool = False) -> str:
    return "".join(p.get("text", "") for p in _parts(actions) if bool(p.get("thought")) == thought)


def _call(actions: list[Action]) -> dict[str, Any]:
    return next(part["functionCall"] for part in _parts(actions) if "functionCall" in part)


def _after(call: dict[str, Any], output: str = "files") -> tuple[dict[str, Any], ...]:
    """The history after a call, with the id as the agent changes it."""
    ident = f"{call['name']}__{call['id']}"
    returned = {"id": ident, "name": call["name"], "response": {"output": output}}
    return (
        _user(_CONTEXT, "hi"),
        {"role": "model", "parts": [{"functionCall": {**call, "id": ident}}]},
        {"role": "user", "parts": [{"functionResponse": returned}]},
    )


def test_a_response_ends_with_its_call_and_the_next_one_goes_on() -> None:
    model = StandInModel(parse_script("- think: hm\n- say: a word\n- read: x\n- say: done"))

    first = _ask(model)
    history = _after(_call(first))
    second = _ask(model, _request(*history))

    assert (_text(first, thought=True), _text(first), _text(second)) == ("hm", "a word", "done")
    assert (_call(first)["name"], _call(first)["args"]) == ("read_file", {"file_path": "/w/x"})
    assert _bodies(second)[-1]["candidates"][0]["finishReason"] == "STOP"
    assert _bodies(second)[0]["modelVersion"] == "gemini-2.5-flash"
    assert model.ask(_WIRE, _request(*history)).outputs == ["files"]


def test_thoughts_are_counted_apart_from_the_output() -> None:
    actions = _ask("- tokens: {input: 1234, cached: 1000, output: 56, reasoning: 7}\n- say: hi")

    assert _bodies(actions)[-1]["usageMetadata"] == {
        "promptTokenCount": 1234,
        "candidatesTokenCount": 49,
        "totalTokenCount": 1290,
        "cachedContentTokenCount": 1000,
        "thoughtsTokenCount": 7,
    }


@pytest.mark.parametrize(
    ("step", "status", "words"),
    [
        ("http: 401", 401, "UNAUTHENTICATED"),
        ("http: {status: 429, headers: {retry-after: '1'}}", 429, '"retryDelay":"1s"'),
        ("overflow", 400, "exceeds the maximum number of tokens"),
        ("http: {status: 500, body: plain}", 500, "plain"),
    ],
)
def test_an_error_is_the_whole_answer(step: str, status: int, words: str) -> None:
    (head,) = _ask(f"- {step}")

    assert isinstance(head, Head)
    assert (head.status, words in (head.body or b"").decode()) == (status, True)


def test_faults_in_the_middle_of_a_stream() -> None:
    assert isinstance(_ask("- drop: {saying: cut off}")[-1], HangUp)
    assert _text(_ask("- drop: {saying: cut off}")) == "cut off"
    assert any(
        b'"error"' in each for each in _ask("- fail: server_error") if isinstance(each, bytes)
    )
    assert Wait(None) in _ask("- silence")
    cut = _bodies(_ask("- say: a\n- incomplete: max_tokens"))
    assert cut[-1]["candidates"][0]["finishReason"] == "MAX_TOKENS"


def test_a_sub_agent_hands_in_its_last_words() -> None:
    model = StandInModel(
        parse_script("turns:\n- [agent: 'HELPER: go']\n- {when: HELPER, steps: [say: It is 7.]}")
    )
    finish = {"name": "complete_task", "parameters": {"properties": {"result": {"type": "string"}}}}
    asked = _request(_user("HELPER: go"), tools=as_gemini([*GEMINI, finish]))

    actions = _ask(model, asked)

    assert _text(actions) == "It is 7."
    assert _call(actions) == {"name": "complete_task", "args": {"result": "It is 7."}}


def test_a_prompt_after_an_interrupted_command_is_a_turn_of_its_own() -> None:
    model = StandInModel(parse_script("turns: [[run: sleep 9, run: ls, say: one], [say: two]]"))
    history = _after(_call(_ask(model)), "[Operation Cancelled] Reason: User cancelled")

    assert _text(_ask(model, _request(*history, _user("next")))) == "two"


def test_the_agents_own_requests_take_no_step() -> None:
    schema: dict[str, Any] = {
        "type": "OBJECT",
        "properties": {"complexity_score": {"type": "INTEGER"}},
    }
    schema["required"] = ["complexity_score"]
    routing = _request(method=":generateContent", generationConfig={"responseJsonSchema": schema})
    summary = _request(method=":generateContent", tools=[])
    search = _request(method=":generateContent", tools=[{"googleSearch": {}}])

    def body(request: HttpRequest) -> Any:
        (head,) = [*(_WIRE.auxiliary(request, 1) or ())]
        assert isinstance(head, Head)
        return json.loads(head.body or b"")

    assert _WIRE.auxiliary(_request(), 1) is None
    (part,) = body(routing)["candidates"][0]["content"]["parts"]
    assert json.loads(part["text"]) == {"complexity_score": 0}
    assert body(summary)["candidates"][0]["content"]["parts"] == [{"text": "Rehearsal"}]
    assert body(search)["candidates"][0]["groundingMetadata"]["groundingChunks"]
    assert body(_request(method=":countTokens"))["totalTokens"] > 0
