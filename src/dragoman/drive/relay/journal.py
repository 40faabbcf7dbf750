"""The journal of a relay: every record, in files of a bounded size, of which the oldest are deleted.

A record is in the journal before it is sent. Readers have a place in it instead of a queue in memory, so one that
sleeps costs nothing, and what is sent again is exactly what was sent before. A file is named by the number of its
first record and holds whole records.

The relay process imports this module: standard library only, so that it starts quickly.
"""

from __future__ import annotations

import os
import sys
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from dragoman.drive.relay.records import BrokenRecord, Record, RecordSplitter, encode

assert sys.platform != "win32"

SEGMENT_BYTES: Final = 8 << 20
MAX_BYTES: Final = 256 << 20
_SUFFIX: Final = ".records"
_CHUNK: Final = 1 << 20
_MARK_BYTES: Final = 1 << 16


class _Segment:
    """One file: the numbers of its records, and its size."""

    def __init__(self, folder: str, first: int) -> None:
        self.first = first
        self.end = first
        """The number after the last of its records."""
        self.size = 0
        self._marks: list[int] = []
        """Where a record ends, every now and then."""
        self.path = os.path.join(folder, f"{first:020d}{_SUFFIX}")

    def grow(self, length: int, count: int) -> None:
        """A record of so many bytes and lines was written."""
        self.size += length
        self.end += count
        if self.size - (self._marks[-1] if self._marks else 0) >= _MARK_BYTES:
            self._marks.append(self.size)

    def part(self, offset: int) -> int:
        """How many bytes to read from here: whole records, and not many of them."""
        if self.size - offset <= _CHUNK:
            return self.size - offset
        following = bisect_right(self._marks, offset)
        last = bisect_right(self._marks, offset + _CHUNK)
        if following == len(self._marks):
            return self.size - offset
        return self._marks[max(following, last - 1)] - offset


class RelayJournal:
    """A journal that is being written, by one process and one thread."""

    def __init__(
        self, folder: str, *, segment_bytes: int = SEGMENT_BYTES, max_bytes: int = MAX_BYTES
    ) -> None:
        """``folder`` must be empty. A journal keeps the newest ``max_bytes``, and at least one file."""
        self._folder = folder
        self._segment_bytes = segment_bytes
        self._max_bytes = max_bytes
        self.next = 1
        """The number of the next record."""
        self.segments: list[_Segment] = []
        self._file = -1
        self._begin_segment()

    @property
    def first(self) -> int:
        """The number of the oldest record that is kept."""
        return self.segments[0].first

    def append(self, kind: bytes, content: bytes, at: int, count: int = 1) -> None:
        """Keep a record of so many lines. Raises ``OSError``, and then the journal is as before."""
        if self.segments[-1].size >= self._segment_bytes:
            self._begin_segment()
        segment = self.segments[-1]
        data = encode(Record(self.next, count, at, kind, content))
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._file, view) :]
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._file, segment.size)
            raise
        segment.grow(len(data), count)
        self.next += count

    def close(self) -> None:
        """Write no more. The files stay."""
        os.close(self._file)

    def _begin_segment(self) -> None:
        segment = _Segment(self._folder, self.next)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        file = os.open(segment.path, flags, 0o600)
        if self._file >= 0:
            os.close(self._file)
        self._file = file
        self.segments.append(segment)
        while len(self.segments) > 1 and sum(each.size for each in self.segments) > self._max_bytes:
            with suppress(OSError):
                os.unlink(self.segments.pop(0).path)


class JournalReader:
    """A place in a journal, for one reader."""

    def __init__(self, journal: RelayJournal, first: int) -> None:
        """The next record to read is ``first``, or the oldest that is kept."""
        self._journal = journal
        self._file = -1
        self._segment: _Segment | None = None
        self._offset = 0
        self._rest = b""
        """The rest of the first record, if the first line is inside it."""
        wanted = max(first, journal.first)
        self._open(next(each for each in reversed(journal.segments) if each.first <= wanted))
        self._skip_to(wanted)

    @property
    def is_behind(self) -> bool:
        """Whether there is something to read."""
        assert self._segment is not None
        is_last = self._segment is self._journal.segments[-1]
        return bool(self._rest) or self._offset < self._segment.size or not is_last

    def read(self) -> tuple[bytes, int | None]:
        """Return the next records as bytes, and the last number of a gap before them, if there is one."""
        assert self._segment is not None
        if self._rest:
            rest, self._rest = self._rest, b""
            return rest, None
        gap = None
        if self._offset >= self._segment.size:
            following = self._following(self._segment)
            if following is None:
                return b"", None
            # A file that was deleted while it was read is still read to its end. Those after it may be gone.
            if following.first > self._segment.end:
                gap = following.first - 1
            self._open(following)
        data = os.pread(self._file, self._segment.part(self._offset), self._offset)
        self._offset += len(data)
        return data, gap

    def close(self) -> None:
        """Give the place up."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _following(self, segment: _Segment) -> _Segment | None:
        return next((each for each in self._journal.segments if each.first > segment.first), None)

    def _open(self, segment: _Segment) -> None:
        self.close()
        self._file = os.open(segment.path, os.O_RDONLY | os.O_CLOEXEC)
        self._segment, self._offset = segment, 0

    def _skip_to(self, wanted: int) -> None:
        assert self._segment is not None
        splitter = RecordSplitter()
        at = 0
        while at < self._segment.size:
            data = os.pread(self._file, min(_CHUNK, self._segment.size - at), at)
            at += len(data)
            before = splitter.offset
            for record in splitter.receive(data):
                if record.end > wanted:
                    if record.number < wanted:
                        self._rest = encode(record.since(wanted))
                        before += len(encode(record))
                    self._offset = before
                    return
                before += len(encode(record))
            self._offset = splitter.offset


def read_journal(folder: str, first: int = 1) -> Iterator[Record]:
    """Yield the records of a journal that no relay writes any more. A torn last record is left out."""
    names = sorted(name for name in os.listdir(folder) if name.endswith(_SUFFIX))
    for name, following in zip(names, [*names[1:], ""], strict=True):
        if following and int(following.removesuffix(_SUFFIX)) <= first:
            continue
        splitter = RecordSplitter()
        with open(os.path.join(folder, name), "rb") as file:
            while data := file.read(_CHUNK):
                try:
                    records = splitter.receive(data)
                except BrokenRecord:
                    return
                for each in records:
                    if each.end > first:
                        yield each if each.number >= first else each.since(first)
