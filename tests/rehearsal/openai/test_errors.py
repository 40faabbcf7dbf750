from __future__ import annotations

import json

from dragoman.rehearsal.openai.errors import http_error
from dragoman.rehearsal.script import Http


def test_an_http_error_has_the_words_that_are_usual_for_its_status() -> None:
    for status in (400, 401, 403, 404, 429, 500, 503):
        head = http_error(Http(status))
        assert (head.status, head.headers) == (status, {"content-type": "application/json"})
        assert json.loads(head.body or b"")["error"]["message"]

    head = http_error(Http(418, "teapot", "kind", "short and stout", {"retry-after": "1"}))
    assert head.headers["retry-after"] == "1"
    assert json.loads(head.body or b"")["error"] == {
        "message": "short and stout",
        "type": "kind",
        "param": None,
        "code": "teapot",
    }
    assert http_error(Http(502, body="<html>")).body == b"<html>"
