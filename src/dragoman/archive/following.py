"""Following sessions that other programs write right now.

Files are looked at twice a second. Of a file that was there before, what is old is read, so that what comes is
understood; only what comes is news. A new file is news from its beginning. A file that is moved or compressed
is the same file. Only rows tell: a turn ends when its file says so.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from dragoman.archive.finding import FoundFile
from dragoman.model.messages import Message
from dragoman.reading.file_lines import is_plain, open_file
from dragoman.reading.growing import GrowingFile
from dragoman.reading.parsers import FileReader
from dragoman.reading.read import feed
from dragoman.reading.sources import Line

_PAUSE_SECONDS: Final = 0.5
_WHOLE: Final = 1 << 24
"""How much of what is old is read whole."""
_TAIL: Final = 1 << 22
"""How much of it is read at its end, if there is more."""
_OPENING_LINES: Final = 4
_IDLE_LOOKS: Final = 120
"""After how many looks without news a file is closed."""


class FollowedMessage(NamedTuple):
    """A message that has just been written."""

    path: str
    message: Message


class _FollowedFile:
    """A file being followed, of which the first bytes are not news."""

    def __init__(self, path: str, old: int) -> None:
        self._reader: FileReader | None = None
        self._held: list[Line] = []
        self._idle = 0
        self._unread: list[Message] = []
        self.file = GrowingFile(path)
        if old:
            self._catch_up(path, old)

    def _catch_up(self, path: str, old: int) -> None:
        """Read enough of what is old to understand what comes, and tell none of it."""
        with open_file(path) as file:
            if not is_plain(file):
                self._catch_up_packed(old)
                return
            first = list(islice(file, _OPENING_LINES))
            begin = file.tell()
            if begin > old:
                return  # it has hardly begun: all of it is news
            self._read([*first])
            if old - begin > _WHOLE:
                file.seek(old - _TAIL)
                file.readline()
                begin = file.tell()
            file.seek(begin)
            lines = file.read(old - begin)
            whole = lines[: lines.rfind(b"\n") + 1]
            self._read([*whole.split(b"\n")[:-1]])
            self.file = GrowingFile(path, offset=begin + len(whole))

    def _catch_up_packed(self, old: int) -> None:
        """The same for a file that is compressed by now; ``old`` counts the bytes that it had before."""
        for batch in self.file.lines():
            for line in batch:
                old -= (len(line) if isinstance(line, bytes) else line.length) + 1
                news = self._read([line])
                self._unread += news if old < 0 else ()

    def news(self) -> list[Message]:
        news, self._unread = self._unread, []
        for batch in self.file.lines():
            news += self._read([*batch])
        self._idle = 0 if news else self._idle + 1
        if self._idle >= _IDLE_LOOKS:
            self.file.close()
        return news

    def _read(self, lines: list[Line]) -> list[Message]:
        if self._reader is None:
            self._held += lines
            reader = FileReader.sniffed([line for line in self._held if isinstance(line, bytes)])
            if reader.dialect is None:
                return []
            self._reader, lines, self._held = reader, self._held, []
        feed(self._reader.parser, lines)
        return self._reader.messages()


def follow(
    find: Callable[[], Sequence[FoundFile]],
    *,
    only: str | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[list[FollowedMessage]]:
    """What is written from now on, in batches; empty ones while nothing is."""
    following = _FollowedFiles(find(), _name(only) if only is not None else None)
    try:
        while True:
            yield []
            sleep(_PAUSE_SECONDS)
            news = following.look(find())
            if news:
                yield news
    finally:
        following.close()


class _FollowedFiles:
    """All files that are followed, by their names: one that is moved or compressed keeps its own."""

    def __init__(self, found: Sequence[FoundFile], only: str | None) -> None:
        self._only = only
        self._old = {_name(each.path): each.size for each in found}
        self._paths = {_name(each.path): each.path for each in found}
        self._followed: dict[str, _FollowedFile] = {}

    def close(self) -> None:
        for each in self._followed.values():
            each.file.close()

    def look(self, found: Sequence[FoundFile]) -> list[FollowedMessage]:
        there = {_name(each.path): each for each in found}
        news: list[FollowedMessage] = []
        for name in {**self._followed, **there}:
            if self._only is not None and name != self._only:
                continue
            try:
                news += self._look_at(name, there.get(name))
            except OSError:
                continue  # not there just now: it may be on its way to another place
        self._paths |= {name: each.path for name, each in there.items()}
        return news

    def _look_at(self, name: str, found: FoundFile | None) -> list[FollowedMessage]:
        known = self._followed.get(name)
        if known is None:
            assert found is not None
            old = self._old.get(name, 0)
            was = self._paths.get(name, found.path)
            if found.size == old and was == found.path:
                return []
            if _is_packed(was) and not _is_packed(found.path):
                old = found.size  # how much of it is new cannot be news: it is taken up from here
            elif found.size < old and not _is_packed(found.path):
                old = 0  # cut off or replaced: what is there now is new
            elif _is_packed(was):
                return []
            known = self._followed[name] = _FollowedFile(found.path, old)
        elif found is not None and found.path != known.file.path:
            known.file.path = found.path
        news = known.news()
        if known.file.is_replaced:
            # Cut off, or another file under its name: what is there now is new.
            path = found.path if found is not None else known.file.path
            known.file.close()
            known = self._followed[name] = _FollowedFile(path, 0)
            news += known.news()
        return [FollowedMessage(known.file.path, each) for each in news]


def _is_packed(path: str) -> bool:
    return path.endswith((".zst", ".gz"))


def _name(path: str) -> str:
    return os.path.basename(path).removesuffix(".zst").removesuffix(".gz")
