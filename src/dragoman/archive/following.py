"""Follow sessions while other programs write them.

Files are checked twice a second. For an existing file, the old part is read only to understand what
follows, and only new messages are returned; a new file is returned from its beginning. A file that
is moved or compressed is still the same file. Only rows end a turn, never the end of the file.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from dragoman.archive.finding import FoundFile
from dragoman.model.messages import Message
from dragoman.reading.file_lines import open_file
from dragoman.reading.growing import GrowingFile
from dragoman.reading.parsers import FileReader
from dragoman.reading.read import feed
from dragoman.reading.sources import Line, is_plain

_PAUSE_SECONDS: Final = 0.5
_WHOLE: Final = 1 << 24
"""The most old bytes that are read completely."""
_TAIL: Final = 1 << 22
"""How many bytes at the end are read if there are more."""
_OPENING_LINES: Final = 4
_IDLE_LOOKS: Final = 120
"""After how many checks without news a file is closed."""


class FollowedMessage(NamedTuple):
    """A message that was just written."""

    path: str
    message: Message


class _FollowedFile:
    """A followed file whose first bytes were there before."""

    def __init__(self, path: str, old: int) -> None:
        self._reader: FileReader | None = None
        self._held: list[Line] = []
        self._idle = 0
        self._unread: list[Message] = []
        self.file = GrowingFile(path)
        if old:
            self._catch_up(path, old)

    def _catch_up(self, path: str, old: int) -> None:
        """Read enough of the old part to understand what follows, and discard its messages."""
        with open_file(path) as file:
            if not is_plain(file):
                self._catch_up_packed(old)
                return
            first = list(islice(file, _OPENING_LINES))
            begin = file.tell()
            if begin > old:
                return  # barely started: treat all of it as new
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
        """Do the same for a file that was compressed since; ``old`` is its previous size."""
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
    """Yield what is written from now on in batches, and empty ones while nothing is."""
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
    """All followed files by name, which stays the same when a file is moved or compressed."""

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
                continue  # missing for now; it may be moving to another folder
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
                # the new part is unknown after decompression, so start at the current end
                old = found.size
            elif found.size < old and not _is_packed(found.path):
                old = 0  # truncated or replaced, so everything in it is new
            elif _is_packed(was):
                return []
            known = self._followed[name] = _FollowedFile(found.path, old)
        elif found is not None and found.path != known.file.path:
            known.file.path = found.path
        news = known.news()
        if known.file.is_replaced:
            # Truncated, or another file under the same name: everything in it is new.
            path = found.path if found is not None else known.file.path
            known.file.close()
            known = self._followed[name] = _FollowedFile(path, 0)
            news += known.news()
        return [FollowedMessage(known.file.path, each) for each in news]


def _is_packed(path: str) -> bool:
    return path.endswith((".zst", ".gz"))


def _name(path: str) -> str:
    """The file's name; with its folder's, if the folder is what names the session."""
    name = os.path.basename(path).removesuffix(".zst").removesuffix(".gz")
    if any(each.isdigit() for each in name):
        return name
    return f"{os.path.basename(os.path.dirname(path))}/{name}"
