from __future__ import annotations

from dragoman.rehearsal.actions import Head, event, json_head


def test_an_event_names_its_kind_and_carries_json() -> None:
    assert event("ping", {"type": "ping"}) == b'event: ping\ndata: {"type":"ping"}\n\n'


def test_a_body_is_json_or_bytes_as_they_are() -> None:
    kind = {"content-type": "application/json"}

    assert json_head(200, {"a": 1}, {"x": "y"}) == Head(200, {**kind, "x": "y"}, b'{"a":1}')
    assert json_head(502, b"<html>") == Head(502, kind, b"<html>")
