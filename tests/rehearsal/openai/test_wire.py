from __future__ import annotations

import msgspec

from dragoman.rehearsal.openai.wire import ResponsesWire
from dragoman.rehearsal.requests import HttpRequest, text_of
from dragoman.rehearsal.wires import RequestHistory


def _history(body: object, **headers: str) -> RequestHistory:
    request = HttpRequest(1, "POST", "/v1/responses", headers, msgspec.json.encode(body))
    assert ResponsesWire().serves(request)
    return ResponsesWire().history(request)


def test_a_request_shows_what_a_test_wants_to_know() -> None:
    history = _history(
        {
            "model": "gpt-5.5",
            "prompt_cache_key": "one",
            "input": [
                {"type": "function_call_output", "call_id": "a", "output": "first"},
                {"type": "custom_tool_call_output", "output": [{"type": "x", "text": "second"}]},
                {"type": "function_call_output", "output": {"content": "third"}},
                "not an item",
            ],
        }
    )

    assert history.conversation == "one"
    assert history.outputs == ["first", "second", "third"]
    assert len(history.items) == 3


def test_a_conversation_is_known_by_a_header_where_the_body_does_not_say() -> None:
    assert _history({}, session_id="two").conversation == "two"
    assert _history({}).conversation == ""


def test_an_input_that_is_no_list_is_empty() -> None:
    assert _history({"input": 3}).items == []


def test_a_plain_string_is_a_prompt() -> None:
    [item] = _history({"input": "hi"}).items

    assert item["role"] == "user"
    assert text_of(item["content"]) == "hi"
