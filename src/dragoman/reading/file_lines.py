"""Read the lines of a session file from any offset, together with their byte offsets.

A file that is being written may end in the middle of a line. That partial line is returned in a
batch of its own, because its content can still change.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from io import BufferedReader
from itertools import accumulate
from typing import NamedTuple, cast

from dragoman.reading.compression import Damage
from dragoman.reading.regular import open_regular
from dragoman.reading.sources import BATCH, CHUNK, Line, batches
from dragoman.wire.lines import DEFAULT_MAX_LINE, LineSplitter, LongLine


class LineBatch(NamedTuple):
    """Consecutive lines of a file."""

    lines: list[Line]
    starts: list[int]
    """The byte offset of each line, followed by the end offset of the last one."""
    is_torn: bool = False
    """Whether this is a partial line without its newline, which can only be the last of the file."""
    damage: str | None = None


def open_file(path: str) -> BufferedReader:
    """Open a session file. Raises ``OSError``, also for anything that is not a regular file."""
    return open_regular(path, buffering=CHUNK)


def plain_lines(file: BufferedReader, offset: int) -> Iterator[LineBatch]:
    """Yield the lines of an uncompressed file, starting at this offset."""
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
    """Do the same for a file that may contain a line too long to hold in memory."""
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
    """Yield all lines of a file that is compressed or in another encoding."""
    file.seek(0)
    offset = 0
    for batch in _gathered(batches(file)):
        last = batch[-1]
        damage = last.problem if isinstance(last, Damage) else None
        starts = list(accumulate(map(_length, batch), initial=offset))
        offset = starts[-1]
        yield LineBatch(batch, starts, damage=damage)


def _gathered(batches: Iterator[list[Line]]) -> Iterator[list[Line]]:
    """Merge small batches into batches as large as those of an uncompressed file.

    The decompressor often produces less than a line at a time, but the first batch must hold enough
    lines to detect the dialect.
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
