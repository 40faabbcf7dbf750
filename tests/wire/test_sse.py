"""The data of server-sent events, whatever chunks it arrives in."""

from __future__ import annotations

import pytest

from dragoman.wire.lines import LongLine
from dragoman.wire.sse import EventSplitter

_STREAM = (
    b': hello\n\nevent: message\nid: 1\ndata: {"a": 1}\n\ndata:{"b":\r\ndata: 2}\r\n\r\n'
    b'retry: 5\n\ndata: {"c": "\xc3\xa9"}\n\ndata: cut off'
)


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_each_event_is_one_line(size: int) -> None:
    splitter = EventSplitter()
    events = [
        event
        for start in range(0, len(_STREAM), size)
        for event in splitter.receive(_STREAM[start : start + size])
    ]

    assert events == [b'{"a": 1}', b'{"b": 2}', '{"c": "é"}'.encode()]


def test_an_event_that_is_too_long_is_shortened() -> None:
    splitter = EventSplitter(max_line=100)

    events = splitter.receive(b"data: " + b"x" * 500 + b"\n\ndata: after\n\n")

    assert isinstance(events[0], LongLine)
    assert events[0].length == 506
    assert events[1:] == [b"after"]


def test_an_event_that_never_ends_is_not_kept() -> None:
    splitter = EventSplitter(max_line=100)

    events = splitter.receive(b"data: " + b"x" * 60 + b"\n" + b"data: " + b"y" * 60 + b"\n")

    assert events == [b"x" * 60]
