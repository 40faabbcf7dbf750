"""Number the messages of a saved session, such that a number never changes its meaning.

Numbers depend only on the rows of the file. A message that a later row could still change is
withheld until that row exists, so every reader gets the same numbers, however much of the file was
written when it looked; more rows only add numbers. Messages that the parser holds back for the next
row are released once the file is at rest: no program has it open, and it was not modified for two
minutes. Turns are ended by rows only.
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
    """Reads a session's file as far as it goes, again and again as it grows.

    Starts at the last mark before the ``first`` message wanted, without reading everything before
    it.
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
        """Whether the last turn has no end so far."""

    @property
    def path(self) -> str:
        return self._file.path

    @property
    def is_replaced(self) -> bool:
        """Whether another file took its place, so that the numbers refer to content that is gone."""
        return self._file.is_replaced

    @property
    def is_finished(self) -> bool:
        """Whether no more messages are expected: no program writes the file, and its last turn has
        ended.

        An open turn counts as over when nothing was written for two minutes.
        """
        if self.is_replaced:
            return True
        return not writers.may_grow(self.path) and (
            not self.is_in_turn or writers.is_at_rest(self.path)
        )

    def close(self) -> None:
        self._file.close()

    def news(self) -> Iterator[Numbered]:
        """Yield the messages since the last call. Raises ``OSError``."""
        yield from self._counted(self._before)
        # checked first, because the file may be written while we read
        is_at_rest = writers.is_at_rest(self._file.path)
        for batch in self._file.lines():
            yield from self._counted(self._read([*batch]))
        rest = self._file.rest
        if rest.endswith(b"}") and _is_whole(rest):
            # The row is complete except for its newline. Nothing appended later could turn it into
            # another row.
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
        """Return what was held back for a next row that is not coming."""
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
    """Whether a line is a complete JSON object."""
    if not line.lstrip().startswith(b"{"):
        return False
    try:
        jsonl.loads(line)
    except jsonl.NotJson:
        return False
    return True
