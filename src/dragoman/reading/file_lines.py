"""The lines of a session file with the bytes at which they begin, from any place in it.

A file that is being written may end in the middle of a line: that piece is given apart, since it may
still become another line.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from io import BufferedReader
from itertools import accumulate
from typing import NamedTuple, cast

from dragoman.reading.compression import MAGIC, Damage
from dragoman.reading.regular import open_regular
from dragoman.reading.sources import BATCH, BOMS, CHUNK, Line, batches
from dragoman.wire.lines import DEFAULT_MAX_LINE, LineSplitter, LongLine


class LineBatch(NamedTuple):
    """Some lines that follow one another."""

    lines: list[Line]
    starts: list[int]
    """The byte at which each begins, and the one at which the last ends."""
    is_torn: bool = False
    """Whether this is a piece without its newline, which only the end of the file can be."""
    damage: str | None = None


def is_plain(file: BufferedReader) -> bool:
    """Whether the bytes of the file are those of its lines: not compressed, nor another encoding."""
    return not file.peek(4)[:4].startswith((*MAGIC, *BOMS))


def open_file(path: str) -> BufferedReader:
    """A session file, opened. Raises ``OSError``, also for what is not a regular file."""
    return open_regular(path, buffering=CHUNK)


def plain_lines(file: BufferedReader, offset: int) -> Iterator[LineBatch]:
    """The lines of a plain file from this byte on."""
    if os.fstat(file.fileno()).st_size - offset > DEFAULT_MAX_LINE:
        yield from _bounded_lines(file, offset)
        return
    file.seek(offset)
    while batch := file.readlines(BATCH):
        torn = batch.pop() if not batch[-1].endswith(b"\n") else None
        if batch:
            starts = list(accumulate(map(len, batch), initial=offset))
            offset = starts[-1]
            yield LineBatch(cast("list[Line]", batch), starts)
        if torn is not None:
            yield LineBatch([torn], [offset, offset + len(torn)], is_torn=True)


def _bounded_lines(file: BufferedReader, offset: int) -> Iterator[LineBatch]:
    """The same for a file in which a line may be too long to be held in memory."""
    file.seek(offset)
    splitter = LineSplitter()
    while chunk := file.read(BATCH):
        lines = cast("list[Line]", splitter.receive(chunk))
        if lines:
            starts = list(accumulate(map(_length, lines), initial=offset))
            offset = starts[-1]
            yield LineBatch(lines, starts)
    if torn := cast("list[Line]", splitter.finish()):
        yield LineBatch(torn, [offset, offset + _length(torn[0]) - 1], is_torn=True)


def other_lines(file: BufferedReader) -> Iterator[LineBatch]:
    """The lines of a compressed file, or of one in another encoding, all of them."""
    file.seek(0)
    offset = 0
    for batch in _gathered(batches(file)):
        last = batch[-1]
        damage = last.problem if isinstance(last, Damage) else None
        starts = list(accumulate(map(_length, batch), initial=offset))
        offset = starts[-1]
        yield LineBatch(batch, starts, damage=damage)


def _gathered(batches: Iterator[list[Line]]) -> Iterator[list[Line]]:
    """Batches as large as those of a plain file: little is undone at a time, often not even a line.

    What a file is has to be seen from the first of them.
    """
    held: list[Line] = []
    size = 0
    for batch in batches:
        held += batch
        size += sum(map(_length, batch))
        if size >= BATCH:
            yield held
            held, size = [], 0
    if held:
        yield held


def _length(line: Line) -> int:
    if isinstance(line, bytes):
        return len(line) + 1
    return line.length + 1 if isinstance(line, LongLine) else 0
