"""Reading the lines of a stored connection again, with the parser that reads recordings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from dragoman.harnesses import find_harness
from dragoman.harnesses.contract.reading import Parser
from dragoman.model.messages import Message
from dragoman.store.live.checking import verify
from dragoman.store.live.reading import JournalLine
from dragoman.store.live.store import NAME
from dragoman.wire.lines import LongLine

_encode: Final = msgspec.json.Encoder().encode
_check: Final = msgspec.json.Decoder(msgspec.Raw).decode


def replay(harness: str, lines: Iterable[JournalLine]) -> Iterator[Message]:
    """The messages of the lines, in order. None if their dialect is unknown."""
    known = find_harness(harness)
    parser: Parser | None = None
    first: list[bytes] = []
    for line in lines if known is not None else ():
        assert known is not None
        if line.length is not None:
            if parser is not None:
                head, _, tail = line.raw.partition(b"\n")
                parser.receive_long_line(LongLine(head=head, tail=tail, length=line.length))
        elif parser is not None:
            parser.receive_line(_wrapped(line))
        else:
            first.append(_wrapped(line))
            name = known.sniff(first)
            dialect = known.dialect(name) if name is not None else None
            if dialect is None:
                continue
            parser = dialect.make_parser(only=None, audit=False)
            parser.receive_lines(first)
        if parser is not None:
            yield from parser.messages()


def _wrapped(line: JournalLine) -> bytes:
    way = b"send" if line.sent else b"recv"
    try:
        _check(line.raw)
    except (msgspec.DecodeError, RecursionError):
        return b'{"dir":"%b","raw":%b}' % (way, _encode(line.raw.decode("utf-8", "replace")))
    return b'{"dir":"%b","msg":%b}' % (way, line.raw)


def problems_of_store(folder: Path) -> list[str] | None:
    """Check the live store in a folder without parsing its lines again. None: there is no store."""
    path = folder / NAME
    return verify(path) if path.exists() else None
