from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.errors import UnknownDialect, UnreadableSource
from dragoman.harnesses import dialects
from dragoman.model.messages import Malformed, Message, Text, Unknown, type_of
from dragoman.reading.read import feed, make_parser, read
from dragoman.reading.sniffing import SniffingParser
from dragoman.wire.lines import LongLine

EXEC = [
    b'{"type":"thread.started","thread_id":"s1"}\n',
    b'{"type":"turn.started"}\n',
    b'{"type":"item.completed","item":{"id":"i1","type":"agent_message","text":"hello"}}\n',
    b'{"type":"turn.completed","usage":{"input_tokens":10,"output_tokens":2}}\n',
]
TYPES = ["session_started", "turn_started", "text", "usage", "turn_ended"]


def types(messages: list[Message]) -> list[str]:
    return [type_of(type(message)) for message in messages]


def test_reading_finds_the_dialect_out() -> None:
    messages = list(read(b"".join(EXEC)))

    assert types(messages) == TYPES
    assert [message.line for message in messages] == [1, 2, 3, 4, 4]


def test_messages_come_as_soon_as_their_line_is_there() -> None:
    asked: list[int] = []

    def chunks() -> Iterator[bytes]:
        for number, line in enumerate(EXEC):
            asked.append(number)
            yield line

    messages = read(chunks())

    assert type_of(type(next(messages))) == "session_started"
    assert asked == [0]


def test_a_named_dialect_is_used_even_for_a_stream_that_looks_like_another() -> None:
    messages = list(read(EXEC[1], dialect="codex-proto"))

    assert [message.native_type for message in messages if isinstance(message, Unknown)] == [
        "turn.started"
    ]


@pytest.mark.parametrize("name", [dialect.name for dialect in dialects()])
def test_every_dialect_can_be_named(name: str) -> None:
    assert list(read(b"", dialect=name)) == []
    assert not isinstance(make_parser(name), SniffingParser)


def test_a_dialect_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(UnknownDialect) as raised:
        list(read(b"", dialect="codex-9"))

    assert raised.value.name == "codex-9"
    assert "codex-rollout" in raised.value.known
    assert str(raised.value).startswith("there is no dialect 'codex-9'; known: codex-exec, ")


def test_only_some_types_of_messages_can_be_asked_for() -> None:
    assert types(list(read(b"".join(EXEC), only={"text", "usage"}))) == ["text", "usage"]
    assert list(read(b"".join(EXEC), only=[])) == []


def test_a_type_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(
        ValueError, match=r"unknown message type 'texts' \(known: session_started, "
    ):
        list(read(b"".join(EXEC), only={"texts"}))


def test_a_path_that_cannot_be_read_is_the_callers_mistake(tmp_path: Path) -> None:
    with pytest.raises(UnreadableSource, match="no such file"):
        list(read(tmp_path / "missing.jsonl"))


def test_a_long_line_becomes_malformed_and_the_stream_goes_on() -> None:
    long = b'{"type":"item.completed","item":{"text":"' + b"x" * 500 + b'"}}\n'

    messages = list(read(b"".join([*EXEC[:2], long, *EXEC[2:]]), max_line=100))

    assert types(messages) == ["session_started", "turn_started", "malformed", *TYPES[2:]]
    [malformed] = [message for message in messages if isinstance(message, Malformed)]
    assert malformed.line == 3
    assert malformed.problem == (
        "line of 544 bytes is longer than the limit; kept its first 50 and last 50 bytes"
    )
    assert malformed.raw == f"{long[:50].decode()} … {long[-51:-1].decode()}"
    assert messages[3].line == 4


def test_damage_to_the_source_is_the_last_thing_told_before_the_end() -> None:
    packed = gzip.compress(b"".join(EXEC[:3]))

    messages = list(read(packed[:-1]))

    assert types(messages) == [*TYPES[:3], "malformed", "turn_ended"]
    assert messages[3] == Malformed(raw="", problem="compressed data ends early")
    assert list(read(packed[:-1], only={"malformed"})) == [messages[3]]


def test_a_batch_may_mix_lines_and_long_lines() -> None:
    parser = make_parser("codex-exec")

    feed(parser, [EXEC[0], LongLine(head=b"{", tail=b"}", length=500), EXEC[2]])

    assert types(parser.messages()) == ["session_started", "malformed", "turn_started", "text"]


def test_the_same_bytes_give_equal_messages() -> None:
    one, other = list(read(b"".join(EXEC))), list(read(b"".join(EXEC)))

    assert one == other
    assert [message.text for message in one if isinstance(message, Text)] == ["hello"]


def test_a_file_truncated_after_the_type_of_a_row_is_read(runs: Path) -> None:
    data = (runs / "0.160.0/mcp.exec-rollout.jsonl").read_bytes()
    mark = b'"payload":{"type":"'
    cuts = [at + len(mark) for at in range(len(data)) if data.startswith(mark, at)]
    assert cuts
    for cut in cuts:
        assert any(isinstance(each, Malformed) for each in read(data[:cut]))
