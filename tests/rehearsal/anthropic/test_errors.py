from __future__ import annotations

import json

import pytest

from dragoman.rehearsal.anthropic.errors import http_error, kind_of, overflow
from dragoman.rehearsal.script import Fail, Http


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (413, "request_too_large"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (503, "api_error"),
        (529, "overloaded_error"),
    ],
)
def test_an_http_error_has_the_name_that_is_usual_for_its_status(status: int, kind: str) -> None:
    head = http_error(Http(status, headers={"retry-after": "1"}))
    body = json.loads(head.body or b"")

    assert (head.status, head.headers["retry-after"]) == (status, "1")
    assert (body["type"], body["error"]["type"]) == ("error", kind)
    assert body["error"]["message"]


def test_a_script_can_say_it_in_its_own_words() -> None:
    head = http_error(Http(400, kind="odd_error", message="Odd."))

    assert json.loads(head.body or b"")["error"] == {"type": "odd_error", "message": "Odd."}
    assert http_error(Http(502, body="<html>")).body == b"<html>"


def test_failures_have_this_apis_names() -> None:
    assert kind_of(Fail("server_error")) == "api_error"
    assert kind_of(Fail("server_is_overloaded")) == "overloaded_error"
    assert kind_of(Fail("odd_error")) == "odd_error"
    assert overflow(Fail("server_error")) is None
    full = overflow(Fail("context_length_exceeded"))
    assert full is not None
    assert full.status == 400
