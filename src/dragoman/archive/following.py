"""Following sessions that other programs write right now.

Files are looked at twice a second. Of a file that was there before, the end is read, so that what comes
is understood; only what comes is told. A new file is told from its beginning.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from dragoman.archive.file_lines import is_plain, open_file, plain_lines
from dragoman.archive.finding import Found
from dragoman.archive.parsers import Reader
from dragoman.archive.reading import feed
from dragoman.model.messages import Message

_PAUSE_SECONDS: Final = 0.5
_TAIL: Final = 1 << 18
_OPENING_LINES: Final = 4


class Heard(NamedTuple):
    """A message that has just been written."""

    path: str
    message: Message


class _Followed:
    """A file being followed, of which the first bytes are not news."""

    def __init__(self, path: str, old: int) -> None:
        self._path = path
        self._offset = 0
        self._reader: Reader | None = None
        if old:
            self._catch_up(old)

    def _catch_up(self, old: int) -> None:
        """Read enough of what is old to understand what comes, and tell none of it."""
        with open_file(self._path) as file:
            if not is_plain(file):
                return
            first = list(islice(file, _OPENING_LINES))
            begin = file.tell()
            self._reader = _known(Reader.sniffed(first))
            if self._reader is None or begin > old:
                self._reader = None
                return  # it has hardly begun: all of it is told
            self._reader.parser.receive_lines(first)
            if old - _TAIL > begin:
                file.seek(old - _TAIL)
                file.readline()
                begin = file.tell()
            self._offset = begin
            file.seek(begin)
            lines = file.read(old - begin)
            whole = lines[: lines.rfind(b"\n") + 1]
            self._reader.parser.receive_lines(whole.split(b"\n")[:-1])
            self._offset += len(whole)
        self._reader.messages()

    def news(self) -> list[Message]:
        told: list[Message] = []
        with open_file(self._path) as file:
            if not is_plain(file) or file.seek(0, os.SEEK_END) < self._offset:
                return told
            for piece in plain_lines(file, self._offset):
                if piece.is_torn:
                    break
                lines = [line for line in piece.lines if isinstance(line, bytes)]
                if self._reader is None:
                    self._reader = _known(Reader.sniffed(lines))
                    if self._reader is None:
                        break
                feed(self._reader.parser, piece.lines)
                told += self._reader.messages()
                self._offset = piece.starts[-1]
        return told


def _known(reader: Reader) -> Reader | None:
    return reader if reader.dialect is not None else None


def follow(
    find: Callable[[], Sequence[Found]],
    *,
    only: str | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[list[Heard]]:
    """What is written from now on, in batches; empty ones while nothing is."""
    followed: dict[str, _Followed] = {}
    sizes = {found.path: found.size for found in find()}
    while True:
        yield []
        sleep(_PAUSE_SECONDS)
        heard: list[Heard] = []
        for found in find():
            old = sizes.get(found.path, 0)
            if found.size == old or (only is not None and found.path != only):
                continue
            sizes[found.path] = found.size
            try:
                if found.size < old:  # cut off or replaced: what comes now is new
                    followed[found.path] = _Followed(found.path, 0)
                elif found.path not in followed:
                    followed[found.path] = _Followed(found.path, old)
                heard += [Heard(found.path, each) for each in followed[found.path].news()]
            except OSError:
                followed.pop(found.path, None)  # gone again before we could look
        if heard:
            yield heard
