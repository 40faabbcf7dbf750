from __future__ import annotations

import msgspec

from dragoman.rehearsal.requests import HttpRequest, mapping, mappings, text_of


def _request(body: object) -> HttpRequest:
    return HttpRequest(1, "POST", "/v1/messages?beta=true", {}, msgspec.json.encode(body))


def test_a_request_shows_what_it_asks_for() -> None:
    request = _request({"model": "gpt-5.5"})

    assert (request.model, request.endpoint) == ("gpt-5.5", "/v1/messages")


def test_a_body_that_is_no_object_is_empty() -> None:
    assert HttpRequest(1, "POST", "/", {}, b"{").body == {}
    assert _request([1]).body == {}


def test_values_of_the_wrong_kind_are_left_out() -> None:
    assert mappings([{"a": 1}, "b", None]) == [{"a": 1}]
    assert (mappings("x"), mapping([1]), mapping({"a": 1})) == ([], {}, {"a": 1})


def test_words_are_found_in_whatever_holds_them() -> None:
    assert text_of(["a", {"text": "b"}, {"encrypted_content": "c"}, {"text": 1}, 2]) == "a\nb\nc"
    assert text_of({"output": [{"text": "d"}]}) == "d"
    assert text_of(None) == ""
