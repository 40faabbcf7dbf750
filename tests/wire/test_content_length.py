"""Messages between Content-Length headers: the same however the bytes arrive."""

from __future__ import annotations

from itertools import pairwise
from random import Random

from dragoman.wire.content_length import ContentLengthSplitter, framed
from dragoman.wire.lines import LongLine

_MESSAGES = [
    b'{"a":1}',
    b"{}",
    '{"text":"gr\u00fc\u00df"}'.encode(),
    b'{"long":"' + b"x" * 5000 + b'"}',
]


def _split(chunks: list[bytes], max_line: int | None = None) -> list[bytes | LongLine]:
    splitter = ContentLengthSplitter(max_line)
    lines = [line for chunk in chunks for line in splitter.receive(chunk)]
    return lines + splitter.finish()


def test_messages_are_the_same_however_they_are_cut() -> None:
    data = framed(each + b"\n" for each in _MESSAGES)

    assert _split([data]) == _MESSAGES
    assert _split([data[at : at + 1] for at in range(len(data))]) == _MESSAGES
    random = Random(1)
    for _ in range(50):
        cuts = sorted(random.randint(0, len(data)) for _ in range(8))
        assert _split([data[a:b] for a, b in pairwise([0, *cuts, len(data)])]) == _MESSAGES


def test_other_headers_and_case_are_accepted() -> None:
    data = b"content-type: application/json\r\ncontent-LENGTH: 2\r\n\r\n{}"

    assert _split([data]) == [b"{}"]


def test_white_space_in_a_message_does_not_end_its_line() -> None:
    body = b'{\n "a": 1\r\n}'

    assert _split([b"Content-Length: %d\r\n\r\n%s" % (len(body), body)]) == [b'{  "a": 1 }']


def test_what_is_printed_in_between_is_kept() -> None:
    data = b"warming up\n" + framed([b"{}"]) + b"done\n"

    assert _split([data]) == [b"warming up", b"{}", b"done"]
    assert _split([data[at : at + 1] for at in range(len(data))]) == [b"warming up", b"{}", b"done"]


def test_a_message_that_is_too_long_is_not_held() -> None:
    body = b"x" * 100_000
    splitter = ContentLengthSplitter(20_000)
    data = b"Content-Length: %d\r\n\r\n%s" % (len(body), body) + framed([b"{}"])
    lines = [
        line for at in range(0, len(data), 999) for line in splitter.receive(data[at : at + 999])
    ]

    assert isinstance(lines[0], LongLine)
    assert lines[0].length == 100_000
    assert lines[1:] == [b"{}"]


def test_a_message_that_is_cut_off_is_kept() -> None:
    assert _split([b'Content-Length: 10\r\n\r\n{"a"']) == [b'{"a"']
