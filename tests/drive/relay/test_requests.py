from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.drive.relay.requests import BrokenRequest, RelayRequest, RequestSplitter

_ALL = b"status\nattach 7 r\nattach 0 w\nsend 3 a-1 5\nhelloend 3\nsend 3 a-2 0\nstop\n"
_READ = [
    RelayRequest(b"status"),
    RelayRequest(b"attach", 7, b"r"),
    RelayRequest(b"attach", 0, b"w"),
    RelayRequest(b"send", 3, b"a-1", b"hello"),
    RelayRequest(b"end", 3),
    RelayRequest(b"send", 3, b"a-2", b""),
    RelayRequest(b"stop"),
]


@given(st.lists(st.integers(0, len(_ALL))))
def test_requests_are_the_same_however_they_are_chunked(cuts: list[int]) -> None:
    splitter = RequestSplitter()

    edges = [0, *sorted(cuts), len(_ALL)]
    assert [each for a, b in pairwise(edges) for each in splitter.receive(_ALL[a:b])] == _READ


@pytest.mark.parametrize(
    "data",
    [
        b"hello\n",
        b"attach\n",
        b"attach -1 r\n",
        b"attach 1 x\n",
        b"send 1 a\n",
        b"send 1 a 99999999999\n",
        b"end one\n",
        b"stop now\n",
        b"\n",
        b"x" * 300,
    ],
)
def test_what_is_no_request_is_refused(data: bytes) -> None:
    with pytest.raises(BrokenRequest):
        RequestSplitter().receive(data)
