"""Read one file into the index, from its beginning or from where reading stopped.

Every commit is consistent: it holds the messages of a file, how far it was read, and the newest
mark with the digest of its sessions there. Reading resumes at that mark. The messages between the
mark and the old end are parsed again and recognized as already indexed. Only drafts are removed:
they were produced because the file seemed to end, and it did not.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from dragoman.archive.finding import FoundFile
from dragoman.archive.index import fingerprints
from dragoman.archive.index.digest import Digest
from dragoman.archive.index.rows import begin, go_on
from dragoman.archive.index.text import index_text
from dragoman.archive.index.turns import OF_TURNS, TurnList
from dragoman.harnesses.contract.reading import Mark
from dragoman.model.messages import Delta, Message, ToolCall, ToolResult, TurnStarted
from dragoman.reading.file_lines import LineBatch, open_file, other_lines, plain_lines
from dragoman.reading.parsers import FileReader
from dragoman.reading.read import feed
from dragoman.store.entries import Entries, IndexedMessage
from dragoman.store.files import FileRow, Files, MarkRow
from dragoman.store.sessions import SessionTable

_FLUSH_ENTRIES: Final = 1000
_FLUSH_BYTES: Final = 2_000_000
_MARK_BYTES: Final = 1 << 21
"""The minimum distance between stored marks: the most that opening a turn has to read."""
_FLUSH_SECONDS: Final = 0.25
_STARTS_KEPT: Final = 1 << 16
"""For how many recent lines the offset is known. A message of an older line gets none."""


class IndexTables(NamedTuple):
    """The tables that a file is written to."""

    files: Files
    sessions: SessionTable
    entries: Entries


class FileIndex:
    """A file being read into the index."""

    def __init__(
        self, tables: IndexTables, found: FoundFile, row: FileRow, reader: FileReader
    ) -> None:
        self._tables = tables
        self._found = found
        self._row = row
        self._reader = reader
        self._digest = Digest(reader.turns_undone, row.digest)
        self._names = reader.row_names
        self._is_fork = row.origin == "fork"
        self._known: Counter[tuple[int, str]] = Counter(
            tables.entries.known_from(row.file_id, row.mark_line or 0)
        )
        self._pending: list[Mark] = []
        self._marks: list[MarkRow] = []
        self._kept_mark = 0
        self._count = row.mark_count or 0
        self._turns = TurnList(row.session_id)
        self._new: list[tuple[IndexedMessage, str]] = []
        self._new_bytes = 0
        self._tools: dict[str, str] = {}
        self._first_line = row.mark_line or 1
        self._starts: list[int] = [row.mark_offset or 0]
        self.bytes_read = 0

    def read(self, lines: Iterator[LineBatch], after: Callable[[int, int], None]) -> FileRow:
        """Read to the end, calling ``after`` regularly with the messages written and the bytes read."""
        problem = None
        flushed_at = time.monotonic()
        torn: LineBatch | None = None
        for piece in lines:
            self.bytes_read += piece.starts[-1] - piece.starts[0]
            problem = piece.damage or problem
            if piece.is_torn:
                torn = piece
                continue
            self._advance(piece)
            self._name(piece)
            feed(self._reader.parser, piece.lines)
            self._take(self._reader.messages(), self._reader.marks())
            now = time.monotonic()
            if (
                len(self._new) >= _FLUSH_ENTRIES
                or self._new_bytes >= _FLUSH_BYTES
                or now - flushed_at >= _FLUSH_SECONDS
            ):
                flushed_at = now
                after(self.flush(), self.bytes_read)
        after(self.flush(), self.bytes_read)
        self._end(torn, problem)
        return self._row

    def _advance(self, piece: LineBatch) -> None:
        self._starts.pop()
        self._starts += piece.starts
        if (beyond := len(self._starts) - _STARTS_KEPT) > 0:
            del self._starts[:beyond]
            self._first_line += beyond
        self._row = self._row._replace(
            offset=piece.starts[-1], lines=self._first_line + len(self._starts) - 2
        )

    def _name(self, piece: LineBatch) -> None:
        """Note the names that these rows give to the file's session."""
        if self._names is None:
            return
        for line in piece.lines:
            if isinstance(line, bytes) and line.startswith(self._names.starts):
                found = self._names.name_in(line)
                if found is not None:
                    self._digest.name(self._row.session_id, *found)

    def _take(self, messages: list[Message], marks: list[Mark]) -> None:
        self._pending += marks
        take, own = self._digest.take, self._row.session_id
        for message in messages:
            kind = message.__class__
            if kind is TurnStarted and self._pending:
                self._settle(message)
            facts = take(message)
            if kind is not Delta:
                self._count += 1
            if kind in OF_TURNS:
                self._turns.take(message, facts.turns, self._count)
            words = index_text(message)
            if isinstance(message, ToolCall):
                self._tools[message.call_id] = message.tool
            elif isinstance(message, ToolResult):
                tool = self._tools.pop(message.call_id, None)
                words = words._replace(tool=tool) if words is not None else None
            if words is None:
                continue
            if not facts.is_own and (self._is_fork or self._reader.keeps_copies):
                continue  # copied from another session, whose own file has it
            if self._known:
                key = (message.line, words.kind)
                if self._known.get(key, 0):
                    self._known[key] -= 1
                    continue
            offset, length = self._place(message.line)
            self._new.append(
                (
                    IndexedMessage(
                        words.kind,
                        facts.turns,
                        message.line,
                        offset,
                        length,
                        words.tool,
                        facts.last_at if message.at is not None else None,
                        words.is_error,
                        None if message.session_id in (None, own) else message.session_id,
                    ),
                    words.body,
                )
            )
            self._new_bytes += len(words.body)

    def _settle(self, began: Message) -> None:
        """Store the mark at which this turn begins, with the digest of the sessions before it."""
        while self._pending and self._pending[0].line < began.line:
            self._pending.pop(0)
        if not self._pending or self._pending[0].line != began.line:
            return
        mark = self._pending.pop(0)
        offset, _ = self._place(mark.line)
        if offset < 0:
            return
        self._row = self._row._replace(
            mark_line=mark.line,
            mark_offset=offset,
            mark_state=mark.state,
            mark_count=self._count,
            digest=self._digest.encode(),
        )
        if offset - self._kept_mark >= _MARK_BYTES:
            self._kept_mark = offset
            turn = self._digest.of(began).turns + 1
            self._marks.append(MarkRow(mark.line, offset, turn, mark.state, self._count))

    def _place(self, line: int) -> tuple[int, int]:
        """Return the offset and length of a line; -1 and 0 if unknown."""
        place = line - self._first_line
        if 0 <= place < len(self._starts) - 1:
            return self._starts[place], self._starts[place + 1] - self._starts[place]
        return -1, 0

    def flush(self) -> int:
        """Write what was collected so far and return how many messages that was."""
        count = len(self._new)
        self._tables.entries.add(self._row.file_id, self._new)
        if self._marks:
            self._tables.files.add_marks(self._row.file_id, self._marks)
        self._tables.files.add_turns(self._row.file_id, self._turns.drain())
        self._tables.files.update(self._row)
        self._new, self._marks, self._new_bytes = [], [], 0
        return count

    def _end(self, torn: LineBatch | None, problem: str | None) -> None:
        row, tables = self._row, self._tables
        is_open = {key: facts.is_open for key, facts in self._digest.sessions.items()}
        if torn is not None:
            self._starts.pop()
            self._starts += torn.starts
            feed(self._reader.parser, torn.lines)
        # Everything from here on exists only because the file ends here now. It is stored as drafts,
        # which are removed when the file has grown.
        self._reader.parser.receive_eof("left")
        self._take(self._reader.messages(), [])
        if (spent := self._reader.spent_so_far()) is not None:
            self._digest.spend(*spent)
        tables.entries.add(row.file_id, self._new, drafts=True)
        tables.files.add_turns(row.file_id, self._turns.drain())
        for key, facts in self._digest.sessions.items():
            facts.is_open = is_open.get(key, facts.is_open)
        own = row.session_id or self._found.path
        mtime = self._found.mtime_ns / 1e9
        tables.sessions.replace(
            row.file_id,
            self._digest.rows(row.file_id, own=own, origin=row.origin, otherwise=mtime),
        )
        self._row = row._replace(complete=True, problem=problem)


def index_file(
    tables: IndexTables,
    found: FoundFile,
    row: FileRow | None,
    after: Callable[[int, int], None],
) -> int:
    """Read a file into the index, or what is new in it. Return how many bytes were read."""
    with open_file(found.path) as file:
        if row is None:
            row, reader = begin(tables.files, found, file)
        else:
            row, reader = go_on(tables.entries, found, row)
        if reader is None:
            return 0
        index = FileIndex(tables, found, row, reader)
        plain = not row.compressed
        lines = plain_lines(file, row.mark_offset or 0) if plain else other_lines(file)
        row = index.read(lines, after)
        if plain:
            row = row._replace(
                head=fingerprints.head(file.raw, row.offset),
                tail=fingerprints.tail(file.raw, row.offset),
            )
        tables.files.update(row)
        return index.bytes_read
