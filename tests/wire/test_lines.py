from __future__ import annotations

import codecs
from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.wire.lines import DEFAULT_MAX_LINE, LineSplitter, LongLine

Lines = list[bytes | LongLine]

MARKS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
}

newline_rich = st.lists(
    st.sampled_from([b"\n", b"\r\n", b"\r", b"{}", b"a", b"\0", b"\xd8", "é\u2028".encode()])
    | st.binary(max_size=12),
    max_size=30,
).map(b"".join)
openings = st.sampled_from([b"", *MARKS.values(), b"\xef", b"\xef\xbb", b"\xff", b"\xfe"])
limits = st.none() | st.integers(1, 40)


def split(chunks: Iterable[bytes], max_line: int | None = DEFAULT_MAX_LINE) -> Lines:
    splitter = LineSplitter(max_line)
    lines: Lines = []
    for chunk in chunks:
        lines += splitter.receive(chunk)
    return lines + splitter.finish()


def one_by_one(data: bytes) -> list[bytes]:
    return [data[i : i + 1] for i in range(len(data))]


def check(
    data: bytes, expected: Lines, max_line: int | None = DEFAULT_MAX_LINE, tail: bytes = b"{"
) -> None:
    """Whole lines come out the same in one piece, byte by byte, and with a tail behind them."""
    assert split([data], max_line) == expected
    assert split(one_by_one(data), max_line) == expected

    splitter = LineSplitter(max_line)
    assert splitter.receive(data + tail) == expected
    assert splitter.finish() == [b"{"]


def test_lines_come_without_their_newline() -> None:
    check(b'{"a":1}\n{"b":2}\n', [b'{"a":1}', b'{"b":2}'])


def test_empty_lines_are_lines() -> None:
    check(b"\n\na\n\n", [b"", b"", b"a", b""])


def test_a_carriage_return_stays() -> None:
    check(b"a\r\nb\rc\n", [b"a\r", b"b\rc"])


def test_only_a_newline_ends_a_line() -> None:
    text = "a\u2028b\u2029c\u0085d\v\f\x1c\x1d\x1ee".encode()

    check(text + b"\n", [text])


def test_the_last_line_needs_no_newline() -> None:
    assert split([b"a\nb"]) == [b"a", b"b"]
    assert split([b"a\n", b"b", b"c"]) == [b"a", b"bc"]


def test_nothing_after_the_last_newline_is_not_a_line() -> None:
    assert split([b"a\n"]) == [b"a"]
    assert split([b""]) == []
    assert split([]) == []


def test_a_finished_splitter_is_as_new() -> None:
    splitter = LineSplitter()
    splitter.receive(codecs.BOM_UTF16_LE + "ab".encode("utf-16-le"))
    splitter.finish()

    assert splitter.receive(codecs.BOM_UTF8 + b"a\nb") == [b"a"]
    assert splitter.finish() == [b"b"]
    assert splitter.finish() == []


# Limits.


def test_a_line_as_long_as_the_limit_is_kept_whole() -> None:
    check(b"abcdefgh\n", [b"abcdefgh"], max_line=8)


def test_a_longer_line_is_cut_to_head_and_tail_and_the_stream_goes_on() -> None:
    check(
        b"ok\nabcdefghi\nok\n",
        [b"ok", LongLine(head=b"abcd", tail=b"fghi", length=9), b"ok"],
        max_line=8,
    )


def test_the_last_line_may_be_too_long_as_well() -> None:
    assert split([b"abc", b"de"], 4) == [LongLine(head=b"ab", tail=b"de", length=5)]


def test_a_limit_of_one_byte_still_keeps_both_ends() -> None:
    check(b"a\nabc\n", [b"a", LongLine(head=b"a", tail=b"c", length=3)], max_line=1, tail=b"{")


def test_with_a_large_limit_four_kilobytes_of_each_end_are_kept() -> None:
    line = bytes(range(1, 10)) + b"x" * 20_000 + bytes(range(11, 20))

    [long] = split([line], 10_000)

    assert long == LongLine(head=line[:4096], tail=line[-4096:], length=len(line))


def test_the_default_limit_is_64_mib_and_none_means_no_limit() -> None:
    assert LineSplitter()._limit == 1 << 26
    assert LineSplitter(None)._limit > 1 << 60


@pytest.mark.parametrize("max_line", [0, -1])
def test_a_limit_below_one_byte_is_refused(max_line: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        LineSplitter(max_line)


def test_a_long_line_that_trickles_in_is_joined_only_once() -> None:
    chunks = [bytes([65 + i % 26]) * 65_536 for i in range(80)]
    splitter = LineSplitter()

    for count, chunk in enumerate(chunks, start=1):
        assert splitter.receive(chunk) == []
        assert len(splitter._parts) == count
        assert splitter._parts[-1] is chunk  # put aside, neither copied nor looked at again

    assert splitter.receive(b"\n") == [b"".join(chunks)]
    assert splitter._parts == []


@given(st.lists(st.binary(max_size=20), max_size=30), st.integers(2, 40))
def test_no_more_than_the_limit_is_held_of_a_line(chunks: list[bytes], max_line: int) -> None:
    splitter = LineSplitter(max_line)

    for chunk in chunks:
        splitter.receive(chunk)
        held = [*splitter._parts, splitter._head, splitter._tail]
        assert sum(map(len, held)) <= max_line


# Byte order marks and encodings.


@pytest.mark.parametrize("encoding", MARKS)
def test_a_marked_stream_comes_out_as_plain_utf_8(encoding: str) -> None:
    text = '{"a":"é😀\u2028ਊ"}\r\n\n[]\n'

    check(
        MARKS[encoding] + text.encode(encoding),
        ['{"a":"é😀\u2028ਊ"}\r'.encode(), b"", b"[]"],
        tail="{".encode(encoding),
    )


@pytest.mark.parametrize("encoding", MARKS)
def test_a_mark_alone_is_an_empty_stream(encoding: str) -> None:
    assert split([MARKS[encoding]]) == []
    assert split(one_by_one(MARKS[encoding])) == []


def test_a_mark_counts_only_at_the_start_of_the_stream() -> None:
    check(b"a\n\xef\xbb\xbfb\n\xff\xfe\n", [b"a", b"\xef\xbb\xbfb", b"\xff\xfe"])


@pytest.mark.parametrize("opening", [b"\xef", b"\xef\xbb", b"\xff", b"\xfe"])
def test_half_a_mark_is_ordinary_bytes(opening: bytes) -> None:
    check(opening + b"a\n", [opening + b"a"])
    assert split(one_by_one(opening)) == [opening]


def test_what_utf_16_cannot_mean_becomes_a_replacement_character() -> None:
    lone_surrogate = b"\xff\xfe" + b"\x3d\xd8" + "a\n".encode("utf-16-le")
    odd_byte_at_the_end = b"\xff\xfe" + "a".encode("utf-16-le") + b"b"

    check(lone_surrogate, ["\ufffda".encode()], tail="{".encode("utf-16-le"))
    assert split([odd_byte_at_the_end]) == ["a\ufffd".encode()]
    assert split(one_by_one(odd_byte_at_the_end)) == ["a\ufffd".encode()]


def test_the_limit_counts_bytes_of_utf_8() -> None:
    data = b"\xff\xfe" + "éé\nééa\n".encode("utf-16-le")

    check(
        data,
        ["éé".encode(), LongLine(head="é".encode(), tail=b"\xa9a", length=5)],
        max_line=4,
        tail="{".encode("utf-16-le"),
    )


# For all input.


@given(openings, newline_rich, st.lists(st.integers(0, 60)), limits)
def test_chunk_boundaries_do_not_change_the_lines(
    opening: bytes, noise: bytes, cuts: list[int], max_line: int | None
) -> None:
    data = opening + noise
    edges = [0, *sorted(cuts), len(data)]
    whole = split([data], max_line)

    assert split([data[a:b] for a, b in pairwise(edges)], max_line) == whole
    assert split(one_by_one(data), max_line) == whole


@given(newline_rich.filter(lambda data: data[:1] not in {b"\xef", b"\xfe", b"\xff"}))
def test_lines_joined_again_are_the_stream(data: bytes) -> None:
    lines = [line for line in split([data]) if isinstance(line, bytes)]

    assert b"\n".join(lines) == data.removesuffix(b"\n")


@given(newline_rich, st.integers(1, 40))
def test_a_limit_changes_nothing_but_the_long_lines(data: bytes, max_line: int) -> None:
    for line, kept in zip(split([data], None), split([data], max_line), strict=True):
        assert isinstance(line, bytes)
        if len(line) <= max_line:
            assert kept == line
        else:
            assert isinstance(kept, LongLine)
            assert kept.length == len(line)
            assert line.startswith(kept.head)
            assert line.endswith(kept.tail)
            assert len(kept.head) == len(kept.tail) == max(1, max_line // 2)


@given(st.text(), st.sampled_from(sorted(MARKS)))
def test_every_text_survives_its_encoding(text: str, encoding: str) -> None:
    *lines, rest = text.encode().split(b"\n")

    assert split([MARKS[encoding] + text.encode(encoding)]) == lines + [rest] * bool(rest)
