"""What a relay keeps and sends: records, in one format for its journal and for its readers.

A record is a line of five words (number, span, time in nanoseconds, kind, length) and its content, which ends with a
newline that does not count. Lines that the agent wrote at once are one record, and each has a number of its own: that
of the record is the first, the span says how many there are. Numbers start with 1, are consecutive in a journal, and
never change. What a relay says to one reader only has the number 0.

The relay process imports this module: standard library only, so that it starts quickly.
"""

from __future__ import annotations

from typing import Final, NamedTuple

OUTPUT: Final = b"o"
"""Lines of the agent's standard output, with newlines between them."""
PART: Final = b"p"
"""The beginning of a very long line. More parts follow, or OUTPUT, whose first line is the rest."""
ERRORS: Final = b"e"
"""Some bytes of the agent's standard error."""
INPUT: Final = b"i"
"""A line for the agent: the id of the sending, a space, and the line. It is kept before it is written."""
WRITER: Final = b"w"
"""From here on only this fence number may write."""
ENDED: Final = b"x"
"""The agent has ended: its exit code, negative for a signal, a space, and why it was ended. The last record."""

GREETING: Final = b"h"
"""To one reader: ``first next fence pid``."""
GAP: Final = b"g"
"""To one reader: the records up to this number are no longer kept."""
REFUSED: Final = b"r"
"""To one reader: the id of a sending, a space, and why it was refused."""
STATUS: Final = b"s"
"""To one reader: the relay's state, as JSON."""

_LONGEST_HEAD: Final = 100


class Record(NamedTuple):
    """One record."""

    number: int
    """The number of its first line."""
    span: int
    """How many lines it holds."""
    at: int
    """Nanoseconds since 1970."""
    kind: bytes
    content: bytes

    @property
    def end(self) -> int:
        """The number after its last line."""
        return self.number + self.span

    def lines(self) -> list[bytes]:
        """The lines of an OUTPUT record."""
        return self.content.split(b"\n")

    def since(self, number: int) -> Record:
        """What is left of an OUTPUT record without the lines before this number."""
        rest = b"\n".join(self.lines()[number - self.number :])
        return Record(number, self.end - number, self.at, self.kind, rest)


class BrokenRecord(Exception):
    """What was received is no record. The rest of the stream has no meaning."""


def encode(record: Record) -> bytes:
    """Return the record as bytes."""
    number, span, at, kind, content = record
    return b"%d %d %d %s %d\n%s\n" % (number, span, at, kind, len(content), content)


class RecordSplitter:
    """Splits one stream of bytes into records, however it is chunked."""

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._length = 0
        self._needed = 0
        """So many bytes make the next record: until they are there, none of those held is looked at again."""
        self.offset = 0
        """The bytes of all records that were returned."""

    def receive(self, data: bytes) -> list[Record]:
        """Return the records that ``data`` completes. Raises :class:`BrokenRecord`."""
        self._held.append(data)
        self._length += len(data)
        if self._length < self._needed:
            return []
        data = b"".join(self._held) if len(self._held) > 1 else data
        records: list[Record] = []
        at, self._needed = 0, 0
        while (end := data.find(b"\n", at, at + _LONGEST_HEAD)) >= 0:
            number, span, when, kind, length = _head(data[at:end])
            stop = end + 1 + length
            if stop >= len(data):
                self._needed = stop + 1 - at
                break
            records.append(Record(number, span, when, kind, data[end + 1 : stop]))
            at = stop + 1
        if not self._needed and len(data) - at >= _LONGEST_HEAD:
            raise BrokenRecord("a record without a head")
        self.offset += at
        self._held = [data[at:]]
        self._length = len(data) - at
        return records


def _head(line: bytes) -> tuple[int, int, int, bytes, int]:
    try:
        number, span, when, kind, length = line.split(b" ")
        head = int(number), int(span), int(when), kind, int(length)
    except ValueError:
        raise BrokenRecord(f"not the head of a record: {line[:40]!r}") from None
    if min(head[0], head[1], head[2], head[4]) < 0:
        raise BrokenRecord(f"not the head of a record: {line[:40]!r}")
    return head
