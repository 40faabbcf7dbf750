from __future__ import annotations

import msgspec

from dragoman.rehearsal.requests import Request, text_of


def _request(body: object, **headers: str) -> Request:
    return Request(1, "POST", "/v1/responses", headers, msgspec.json.encode(body))


def test_a_request_shows_what_a_test_wants_to_know() -> None:
    request = _request(
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

    assert request.model == "gpt-5.5"
    assert request.conversation == "one"
    assert request.outputs == ["first", "second", "third"]
    assert len(request.items) == 3


def test_a_conversation_is_known_by_a_header_where_the_body_does_not_say() -> None:
    assert _request({}, session_id="two").conversation == "two"
    assert _request({}).conversation == ""


def test_a_body_that_is_no_object_is_empty() -> None:
    assert Request(1, "POST", "/", {}, b"{").body == {}
    assert _request([1]).body == {}
    assert _request({"input": 3}).items == []


def test_a_plain_string_is_a_prompt() -> None:
    [item] = _request({"input": "hi"}).items

    assert item["role"] == "user"
    assert text_of(item["content"]) == "hi"


def test_words_are_found_in_whatever_holds_them() -> None:
    assert text_of(["a", {"text": "b"}, {"encrypted_content": "c"}, {"text": 1}, 2]) == "a\nb\nc"
    assert text_of({"output": [{"text": "d"}]}) == "d"
    assert text_of(None) == ""
