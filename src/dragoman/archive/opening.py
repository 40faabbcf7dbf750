"""Open a saved session at a turn, without reading what comes before it.

An indexed file has marks to start from. In a file that is not indexed, the last turn is found from
the end: a part of the tail is read after the file's first lines, and a longer part if that does not
contain the start of a turn. Only the current batch is kept in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BufferedReader
from itertools import islice
from typing import Final

import msgspec

from dragoman.harnesses.contract.reading import Mark
from dragoman.model.messages import Message, Prompt, TurnStarted
from dragoman.reading.file_lines import LineBatch, open_file, other_lines, plain_lines
from dragoman.reading.parsers import FileReader
from dragoman.reading.read import feed
from dragoman.reading.sources import ending_of, is_plain
from dragoman.store.files import FileRow, Files, MarkRow

_FIRST_TAIL: Final = 1 << 18
_OPENING_LINES: Final = 4


def messages_of(path: str, end: int | None = None) -> Iterator[Message]:
    """Yield every message of a file, or of its part before the byte ``end``.

    A fork continues elsewhere at ``end``, so a turn open there is over. At the end of the whole
    file it stays open.
    """
    with open_file(path) as file:
        plain = is_plain(file)
        pieces = plain_lines(file, 0) if plain else other_lines(file)
        reader: FileReader | None = None
        for piece in pieces:
            if reader is None:
                reader = _reader_for(piece)
            if end is not None and piece.starts[-1] > end:
                count = sum(1 for start in piece.starts[1:] if start <= end)
                feed(reader.parser, piece.lines[:count])
                break
            feed(reader.parser, piece.lines)
            yield from reader.messages()
        if reader is not None:
            reader.parser.receive_eof("over" if end is not None else ending_of(path))
            yield from reader.messages()


def _reader_for(piece: LineBatch) -> FileReader:
    reader = FileReader.sniffed([line for line in piece.lines if isinstance(line, bytes)])
    return reader if reader.dialect is not None else FileReader.unknown()


def turn(files: Files, row: FileRow, number: int) -> Iterator[Message]:
    """Yield the messages of one turn of a file's own session, starting from the nearest mark."""
    count = 0
    for message in _from_mark(files, row, number):
        if isinstance(message, _TurnCount):
            count = message.before
            continue
        if isinstance(message, TurnStarted) and message.session_id == row.session_id:
            count += 1
        if count > number:
            return
        if count == number:
            yield message


class _TurnCount(msgspec.Struct):
    """How many turns come before the next message."""

    before: int


def _from_mark(files: Files, row: FileRow, number: int) -> Iterator[Message | _TurnCount]:
    mark = None if row.compressed else files.mark_before(row.file_id, turn=number)
    yield _TurnCount(mark.turn - 1 if mark is not None else 0)
    yield from _read_on(row, mark)


def _read_on(row: FileRow, mark: MarkRow | None) -> Iterator[Message]:
    """Yield the messages of a file from a mark on, or all of them."""
    if mark is None:
        yield from messages_of(row.path)
        return
    reader = FileReader.resumed(row.dialect, Mark(mark.line, mark.state))
    with open_file(row.path) as file:
        for piece in plain_lines(file, mark.offset):
            feed(reader.parser, piece.lines)
            yield from reader.messages()
        reader.parser.receive_eof(ending_of(row.path))
        yield from reader.messages()


def last_turn(path: str) -> list[Message]:
    """Return the last turn of a file that is not indexed. Its messages have no line numbers."""
    with open_file(path) as file:
        if not is_plain(file):
            return _last_of(messages_of(path))
        first = list(islice(file, _OPENING_LINES))
        opened = file.tell()
        size = file.seek(0, 2)
        length = _FIRST_TAIL
        while True:
            begin = max(opened, size - length)
            reader = _reader_for(LineBatch([*first], []))
            reader.parser.receive_lines(first)
            for piece in plain_lines(file, _next_line(file, begin, opened)):
                feed(reader.parser, piece.lines)
            reader.parser.receive_eof(ending_of(path))
            found = _last_of(iter(reader.messages()))
            if begin == opened or any(isinstance(message, Prompt) for message in found):
                return [msgspec.structs.replace(message, line=0) for message in found]
            length *= 4


def _next_line(file: BufferedReader, begin: int, opened: int) -> int:
    if begin == opened:
        return begin
    file.seek(begin)
    file.readline()
    return file.tell()


def _last_of(messages: Iterator[Message]) -> list[Message]:
    """Return the messages from the start of the last turn on."""
    found: list[Message] = []
    for message in messages:
        if isinstance(message, TurnStarted):
            found = []
        found.append(message)
    return found


def raw_line(files: Files, row: FileRow, line: int) -> bytes | None:
    """Return a line of a file unchanged, by its number."""
    mark = None if row.compressed else files.mark_before_line(row.file_id, line)
    number = mark.line if mark else 1
    with open_file(row.path) as file:
        pieces = (
            other_lines(file) if row.compressed else plain_lines(file, mark.offset if mark else 0)
        )
        for piece in pieces:
            if line < number + len(piece.lines):
                found = piece.lines[line - number]
                return found.rstrip(b"\n") if isinstance(found, bytes) else None
            number += len(piece.lines)
    return None
