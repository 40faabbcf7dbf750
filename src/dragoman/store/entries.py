"""One row per searchable message, and the text by which it is found.

The text is stored only in the full-text table. A message that may still change, because the file
was read to an end that is not final, is a draft. The text of a draft is also kept in a table,
because a contentless full-text table can only delete a row if it is given the original text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final, NamedTuple

from dragoman.store.database import Database

KINDS: Final = (
    "prompt",
    "text",
    "thinking",
    "tool_call",
    "tool_result",
    "notice",
    "turn_ended",
    "compacted",
)
"""The kinds of messages that can be found. Append only: the index stores positions in this tuple."""

_KIND_NUMBERS: Final = {kind: number for number, kind in enumerate(KINDS)}
_OF_FILE: Final = (
    "spans p JOIN entries e ON e.entry_id BETWEEN p.first AND p.last WHERE p.file_id = ?"
)
# Scripts without spaces between words. Each character is indexed as a word of its own.
_UNSPACED: Final = (
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029"
    r"\u3040-\u30ff\u3100-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\uff66-\uff9d\U00020000-\U0003ffff]"
)


_may_be_unspaced: Final = re.compile("[^\0-\u0dff\u2000-\u2e7f\U00040000-\U0010ffff]").search
"""Two ranges around all of them: five times as quick to look for, and in most texts there is nothing.

The pattern names what is outside of these ranges: that way it takes a seventh of the time to compile.
"""


@cache
def _unspaced() -> re.Pattern[str]:
    return re.compile(_UNSPACED)  # when it is needed: most commands find no such text


def spaced(text: str) -> str:
    """Insert spaces between words for scripts that do not use them."""
    return (
        text if text.isascii() or not _may_be_unspaced(text) else _unspaced().sub(r" \g<0> ", text)
    )


def indexable(text: str) -> str:
    """The indexed form of a text: with spaces between words, and without lone surrogates."""
    return text if text.isascii() else spaced(text).encode("utf-8", "replace").decode()


class IndexedMessage(NamedTuple):
    """A message to index, and its position in a file."""

    kind: str
    turn: int
    """The number of the turn in its session, from 1; 0 before the first turn."""
    line: int
    offset: int
    """The byte offset of the line; -1 if unknown."""
    length: int
    tool: str | None = None
    at: float | None = None
    is_error: bool = False
    session_id: str | None = None
    """The session, if it is not the file's own."""


class IndexedLine(NamedTuple):
    """A message that is already in the index."""

    line: int
    kind: str


class Entries:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._tools: dict[str, int] = {}

    def add(
        self,
        file_id: int,
        given: Sequence[tuple[IndexedMessage, str]],
        *,
        drafts: bool = False,
        are_indexable: bool = False,
    ) -> None:
        """Insert messages of a file, each with its index text, which may be :func:`indexable` already."""
        if not given:
            return
        base = self._take_ids(file_id, len(given))
        rows = [
            self._values(base + place, file_id, entry) for place, (entry, _) in enumerate(given)
        ]
        words = [
            (base + place, body if are_indexable else indexable(body))
            for place, (_, body) in enumerate(given)
        ]
        database = self._database
        database.write_many("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        database.write_many("INSERT INTO texts (rowid, body) VALUES (?, ?)", words)
        if drafts:
            kept = [(file_id, *each) for each in words]
            database.write_many("INSERT INTO drafts VALUES (?, ?, ?)", kept)

    def _take_ids(self, file_id: int, count: int) -> int:
        """Reserve consecutive ids for messages of this file and return the first."""
        database = self._database
        first = int(database.fact("next_entry") or 1)
        database.set_fact("next_entry", first + count)
        last = first + count - 1
        given = (file_id, first - 1)
        span = database.row("SELECT first FROM spans WHERE file_id = ? AND last = ?", given)
        if span is None:
            database.write("INSERT INTO spans VALUES (?, ?, ?)", (file_id, first, last))
        else:
            given = (last, file_id, span[0])
            database.write("UPDATE spans SET last = ? WHERE file_id = ? AND first = ?", given)
        return first

    def _values(self, entry_id: int, file_id: int, entry: IndexedMessage) -> tuple[object, ...]:
        return (
            entry_id,
            file_id,
            entry.session_id,
            entry.turn,
            _KIND_NUMBERS[entry.kind],
            self._tool(entry.tool) if entry.tool is not None else None,
            int(entry.at) if entry.at is not None else None,
            entry.is_error,
            entry.offset,
            entry.length,
            entry.line,
        )

    def _tool(self, name: str) -> int:
        number = self._tools.get(name)
        if number is None:
            kept = name.encode("utf-8", "replace").decode()
            self._database.write("INSERT OR IGNORE INTO tools (name) VALUES (?)", (kept,))
            row = self._database.row("SELECT tool FROM tools WHERE name = ?", (kept,))
            number = self._tools[name] = int(row[0])
        return number

    def forget_tools(self) -> None:
        """Clear cached tool ids after the index was emptied."""
        self._tools.clear()

    def take_back_drafts(self, file_id: int) -> None:
        """Remove the drafts of a file, including their text."""
        drafts = self._database.rows(
            "SELECT entry_id, body FROM drafts WHERE file_id = ?", (file_id,)
        )
        self._database.write_many(
            "INSERT INTO texts (texts, rowid, body) VALUES ('delete', ?, ?)", drafts
        )
        ids = [(entry_id,) for entry_id, _ in drafts]
        self._database.write_many("DELETE FROM entries WHERE entry_id = ?", ids)
        self._database.write("DELETE FROM drafts WHERE file_id = ?", (file_id,))

    def known_from(self, file_id: int, line: int) -> list[IndexedLine]:
        """Return the indexed messages of a file from this line on."""
        rows = self._database.rows(
            f"SELECT e.line, e.kind FROM {_OF_FILE} AND e.line >= ?", (file_id, line)
        )
        return [IndexedLine(line, KINDS[kind]) for line, kind in rows]

    def near(self, entry_id: int, reach: int) -> list[int]:
        """Return the ids of the messages around this one in its file, including its own."""
        row = self._database.row("SELECT file_id FROM entries WHERE entry_id = ?", (entry_id,))
        if row is None:
            return []
        before = self._database.rows(
            f"SELECT e.entry_id FROM {_OF_FILE} AND p.first <= ? AND e.entry_id <= ? "
            "ORDER BY e.entry_id DESC LIMIT ?",
            (row[0], entry_id, entry_id, reach + 1),
        )
        after = self._database.rows(
            f"SELECT e.entry_id FROM {_OF_FILE} AND p.last > ? AND e.entry_id > ? "
            "ORDER BY e.entry_id LIMIT ?",
            (row[0], entry_id, entry_id, reach),
        )
        return [row[0] for row in [*reversed(before), *after]]

    def by_offsets(self, file_id: int, offsets: Iterable[int]) -> dict[int, int]:
        """Return the ids of the messages whose lines begin at these offsets of a file, by offset."""
        wanted = set(offsets)
        rows = self._database.rows(f"SELECT e.offset, e.entry_id FROM {_OF_FILE}", (file_id,))
        return {offset: entry_id for offset, entry_id in rows if offset in wanted}

    def count(self) -> int:
        return int(self._database.row("SELECT count(*) FROM entries")[0])
