"""The rules that hold for every stream, whatever it says: for ``test_robustness.py`` and ``fuzz.py``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Final

from dragoman.export import FORMATS
from dragoman.model.messages import decode, encode
from dragoman.model.turns import fold
from dragoman.reading.audit import audit
from dragoman.reading.mapper import Mapper
from dragoman.reading.read import read

EVERYTHING: Final = ("context", "deltas", "raw")
JSON_FORMATS: Final = ("messages", "claude", "unified", "ndjson", "orchestrator")


def assert_rules_hold(data: bytes, dialect: str | None, *, size: int) -> None:
    """Read, convert and audit a stream, whole and in chunks of a size.

    Whatever the stream says: nothing raises, no line is lost, chunks make no difference.
    """
    messages = list(read(data, dialect=dialect))
    assert [decode(encode(message)) for message in messages] == messages, "messages are not kept"
    fold(messages)
    account = audit(data, dialect=dialect)
    assert account.unaccounted == [], "lines are lost"
    assert account.messages.total() == len(messages), "the audit reads other messages"
    assert all(0 < message.line <= account.lines for message in messages), "there is no such line"
    assert list(read(chunks(data, size), dialect=dialect)) == messages, "chunks change messages"
    for each in FORMATS:
        lines = converted([data], each.name, dialect)
        assert converted(chunks(data, size), each.name, dialect) == lines, "chunks change lines"
        assert_lines_are_whole(lines, each.name)


def assert_lines_are_whole(lines: list[str], to: str) -> None:
    assert all(line.endswith("\n") for line in lines), f"{to}: a line has no end"
    if to in JSON_FORMATS:
        for line in lines:
            json.loads(line, parse_int=str)  # Python refuses numbers that JSON allows


def converted(pieces: Iterable[bytes], to: str, dialect: str | None = None) -> list[str]:
    """The lines that a mapper makes of a stream, with everything included."""
    mapper = Mapper(to, dialect=dialect, include=EVERYTHING)
    return [line for piece in pieces for line in mapper.push(piece)] + mapper.flush()


def chunks(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))
