from __future__ import annotations

from dragoman.rehearsal.actions import EVENTS, HangUp, Head, Wait
from dragoman.rehearsal.pacing import extra_headers, paced
from dragoman.rehearsal.script import Headers, Slow


def test_only_events_after_the_slow_step_come_slowly() -> None:
    actions = list(paced([], [b"a", Slow(2), b"b", Wait(1), HangUp()]))

    assert actions == [Head(200, EVENTS), b"a", Wait(2), b"b", Wait(1), HangUp()]


def test_headers_of_the_script_are_added() -> None:
    played = [(Headers({"x": "1"}), None), (Headers({"y": "2"}), None)]

    assert extra_headers(played) == {"x": "1", "y": "2"}
    assert next(paced(played, [])) == Head(200, EVENTS | {"x": "1", "y": "2"})
