"""What must hold for every stream, however it is cut and whatever is asked of it."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.export import FORMATS
from dragoman.model.messages import Message, decode
from dragoman.reading.read import read
from support.mutations import DIALECTS, RUNS, mutated, recordings
from support.rules import assert_rules_hold, chunks, converted

ALL = sorted(RUNS.glob("*/*.jsonl"))


def smallest(dialect: str) -> bytes:
    """The shortest stream of a dialect that is more than a few lines long."""
    streams = sorted(recordings()[dialect], key=lambda named: sum(map(len, named[1])))
    lines = next((lines for _, lines in streams if len(lines) > 5), streams[-1][1])
    return b"".join(line + b"\n" for line in lines)


@cache
def messages_of(path: Path) -> list[Message]:
    return list(read(path))


# Chunks.


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=10)
@given(data=st.data())
def test_chunks_change_neither_messages_nor_lines(dialect: str, data: st.DataObject) -> None:
    stream = smallest(dialect)
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=30))
    pieces = [stream[start:end] for start, end in pairwise([0, *sorted(cuts), len(stream)])]

    assert list(read(iter(pieces))) == list(read(stream))
    for each in FORMATS:
        assert converted(pieces, each.name) == converted([stream], each.name)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_stream_may_come_byte_by_byte(dialect: str) -> None:
    stream = smallest(dialect)

    assert list(read(chunks(stream, 1))) == list(read(stream))
    for each in FORMATS:
        assert converted(chunks(stream, 1), each.name) == converted([stream], each.name)


@pytest.mark.parametrize("to", [each.name for each in FORMATS])
def test_the_lines_of_a_stream_may_come_one_by_one_or_all_at_once(to: str) -> None:
    for path in ALL:
        stream = path.read_bytes()
        one_by_one = stream.splitlines(keepends=True)

        assert converted(one_by_one, to) == converted([stream], to), path


# Keeping.


def test_a_stream_written_as_messages_has_every_message() -> None:
    for path in ALL:
        lines = converted([path.read_bytes()], "messages")

        assert [decode(line) for line in lines] == list(read(path.read_bytes())), path


def test_a_path_and_its_bytes_give_the_same_messages(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"type":"thread.started","thread_id":"s1"}\noops\n{"type":"new"}\r\n')

    assert list(read(path)) == list(read(path.read_bytes()))


# Harm.


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=40)
@given(random=st.integers(0, 2**32).map(Random), size=st.sampled_from((13, 200, 4096)))
def test_nothing_a_stream_says_raises_or_is_lost(dialect: str, random: Random, size: int) -> None:
    _, lines = random.choice(recordings()[dialect])
    read_as = random.choice((dialect, None, *DIALECTS))
    data = b"".join(line + b"\n" for line in mutated(random, lines))

    assert_rules_hold(data, read_as, size=size)


HUGE = b"1" + b"0" * 400
LINES = {
    "not UTF-8": b'{"type":"\xff"}',
    "not UTF-8, deep inside": b'{"type":"event_msg","payload":{"type":"token_count",'
    b'"rate_limits":{"\xff":null}}}',
    "a direction and no message": b'{"dir":"send"}',
    "a time of another age": b'{"dir":"recv","msg":{"method":"item/agentMessage/delta",'
    b'"emittedAtMs":1794781576794781576384}}',
    "a duration without end": b'{"timestamp":"2026-11-15T22:26:06Z","type":"event_msg","payload":'
    b'{"type":"mcp_tool_call_end","call_id":"c","invocation":{"server":"s","tool":"t"},'
    b'"duration":{"secs":%s},"result":{}}}' % HUGE,
    "a percentage beyond all floats": b'{"type":"event_msg","payload":{"type":"token_count",'
    b'"rate_limits":{"primary":{"used_percent":%s}}}}' % HUGE,
    "tokens beyond all counts": b'{"id":"1","msg":{"type":"token_count","input_tokens":%s}}' % HUGE,
    "tokens of an app-server beyond all counts": b'{"method":"thread/tokenUsage/updated","params":'
    b'{"threadId":"s","tokenUsage":{"total":{"inputTokens":%s}}}}' % HUGE,
    "tokens of a response beyond all counts": b'{"type":"response.completed","response":{"id":"r",'
    b'"usage":{"input_tokens":%s}}}' % HUGE,
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_no_line_raises_or_is_lost(line: bytes, dialect: str) -> None:
    assert_rules_hold(line * 2, dialect, size=13)
    assert_rules_hold(b"%s\n%s\n" % (line, line), dialect, size=200)
