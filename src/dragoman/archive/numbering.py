"""The messages of a saved session with their numbers, which never change their meaning.

A message gets its number by the rows of the file alone: whatever is not decided before a row that is still to
come is not told before that row is there. So a file gives the same numbers however often it is read, by whom, and
how much of it was written at the time; more rows only give more numbers. What a parser holds back for the next
row is told when the file is at rest: no program has it open, and nothing was written for two minutes. Ends of
turns are told by rows and by nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from dragoman.archive.stitching import before
from dragoman.harnesses.contract.reading import Mark
from dragoman.model.messages import Delta, Message, TurnEnded, TurnStarted
from dragoman.reading import writers
from dragoman.reading.growing import GrowingFile
from dragoman.reading.parsers import FileReader
from dragoman.reading.read import feed
from dragoman.reading.sources import Line
from dragoman.store.files import FileRow, Files
from dragoman.wire import jsonl

Numbered: TypeAlias = tuple[int, Message]
_SNIFFED: Final = 64


class NumberedFile:
    """A session's file, read as far as it goes; again and again, as it grows.

    Begins where the ``first`` message wanted can be reached from, without reading all before it.
    """

    def __init__(self, files: Files, row: FileRow, first: int = 1) -> None:
        self._number = 0
        self._before: Iterator[Message] = iter(())
        mark = None
        if row.base_session_id is not None:
            self._before = before(files, row)
        elif not row.compressed:
            mark = files.mark_before_message(row.file_id, first)
        self._reader: FileReader | None = None
        offset = 0
        if mark is not None:
            self._reader = FileReader.resumed(row.dialect, Mark(mark.line, mark.state))
            self._number, offset = mark.before, mark.offset
        self._file = GrowingFile(row.path, offset=offset)
        self._held: list[Line] = []
        self._session_id = row.session_id
        self.is_in_turn = False
        """Whether the last turn has no end, as far as was read."""

    @property
    def path(self) -> str:
        return self._file.path

    @property
    def is_replaced(self) -> bool:
        """Whether another file has taken its place: the numbers are of one that is gone."""
        return self._file.is_replaced

    @property
    def is_finished(self) -> bool:
        """Whether nothing more is to be expected: no program writes it, and its last turn has ended.

        A turn that is left open counts as over when nothing was written for two minutes.
        """
        if self.is_replaced:
            return True
        return not writers.may_grow(self.path) and (
            not self.is_in_turn or writers.is_at_rest(self.path)
        )

    def close(self) -> None:
        self._file.close()

    def news(self) -> Iterator[Numbered]:
        """The messages since the last time. Raises ``OSError``."""
        yield from self._counted(self._before)
        is_at_rest = writers.is_at_rest(self._file.path)  # first: it may be written while we read
        for batch in self._file.lines():
            yield from self._counted(self._read([*batch]))
        rest = self._file.rest
        if rest.endswith(b"}") and _is_whole(rest):
            # All of it is there but its newline: nothing that follows could make it another row.
            self._file.take_rest()
            yield from self._counted(self._read([rest]))
        if is_at_rest:
            yield from self._counted(self._released())

    def _read(self, lines: list[Line]) -> Sequence[Message]:
        if self._reader is None:
            self._held += lines
            known = [line for line in self._held if isinstance(line, bytes)]
            reader = FileReader.sniffed(known)
            if reader.dialect is None and len(self._held) <= _SNIFFED:
                return ()
            self._reader = reader if reader.dialect is not None else FileReader.unknown()
            lines, self._held = self._held, []
        feed(self._reader.parser, lines)
        return self._reader.messages()

    def _released(self) -> Sequence[Message]:
        """What was held back for a row that does not come."""
        if self._reader is None:
            self._reader = FileReader.unknown()
            feed(self._reader.parser, self._held)
            self._held = []
        self._reader.parser.receive_eof("growing")
        return self._reader.messages()

    def _counted(self, messages: Iterator[Message] | Sequence[Message]) -> Iterator[Numbered]:
        for message in messages:
            if isinstance(message, Delta):
                continue
            if (
                isinstance(message, TurnStarted | TurnEnded)
                and message.session_id == self._session_id
            ):
                self.is_in_turn = isinstance(message, TurnStarted)
            self._number += 1
            yield self._number, message


def _is_whole(line: bytes) -> bool:
    """Whether a line is an object, from its beginning to its end."""
    if not line.lstrip().startswith(b"{"):
        return False
    try:
        jsonl.loads(line)
    except jsonl.NotJson:
        return False
    return True
