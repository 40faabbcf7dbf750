"""Verify the live store: nothing is missing, everything is readable, and the lines still give the
same messages.

The check uses its own connection, so it can run while the store is in use or after a crash.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final, Protocol

import msgspec

from dragoman.model.messages import (
    ApprovalSettled,
    Delta,
    Message,
    Notice,
    Prompt,
    SessionEnded,
    ToolResult,
    TurnEnded,
    TurnStarted,
    Unknown,
    decode,
)
from dragoman.store.live.log import WrittenLog
from dragoman.store.live.reading import JournalLine, connected
from dragoman.store.live.schema import PLACE_BITS, VERSION, place_in, row_id

_OURS: Final = (ApprovalSettled, Notice, SessionEnded, ToolResult, TurnEnded)
"""Messages we emit ourselves when a turn or a connection ends without its own final messages."""
_MOST: Final = 50
"""The most problems reported per connection. More add no information."""


class Replay(Protocol):
    """Parses journal lines again and yields their messages in order."""

    def __call__(self, harness: str, lines: Iterable[JournalLine], /) -> Iterator[Message]: ...


def verify(path: Path, replay: Replay | None = None) -> list[str]:
    """Return the problems of a store as sentences; empty if there are none."""
    if not path.exists():
        return [f"{path} does not exist"]
    try:
        log = WrittenLog(path)
        # Read-only, because closing the last connection that can write removes a damaged log.
        with closing(connected(path, read_only=True)) as connection:
            connection.execute("PRAGMA query_only = ON")
            connection.execute("BEGIN")  # read everything from one snapshot
            problems = list(_problems(connection, replay))
            lost = log.problem()
            return problems if lost is None else [lost, *problems]
    except (sqlite3.DatabaseError, UnicodeDecodeError, ValueError, TypeError) as problem:
        return [f"the store cannot be read: {problem}"]


def _problems(connection: sqlite3.Connection, replay: Replay | None) -> Iterator[str]:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != VERSION:
        yield f"the store has version {version}, not {VERSION}"
        return
    for (said,) in connection.execute("PRAGMA integrity_check(10)"):
        if said != "ok":
            yield f"SQLite: {said}"
    yield from _gaps(connection, "entries", "entry_id", "session")
    yield from _gaps(connection, "journal", "line_id", "connection")
    yield from _orphans(connection)
    stored_messages = _StoredMessages()
    for entry_id, kind, number, line, data in connection.execute(
        "SELECT entry_id, kind, connection, line, message FROM entries ORDER BY entry_id"
    ):
        where = f"session {entry_id >> PLACE_BITS}, entry {place_in(entry_id)}"
        try:
            message = decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError) as problem:
            yield f"{where}: not a valid message ({problem})"
            continue
        if message.__struct_config__.tag != kind or message.line != line:
            yield f"{where}: stored with a different kind or line than its message has"
        if number and replay is not None and line:
            stored_messages.add(number, message, where)
    if replay is not None:
        kept = "SELECT connection, harness FROM connections WHERE NOT is_pruned"
        for number, harness in connection.execute(kept).fetchall():
            yield from _limited(_replayed(connection, number, harness, replay, stored_messages))


def _gaps(connection: sqlite3.Connection, table: str, column: str, of: str) -> Iterator[str]:
    """Check that each group of rows is numbered from 1 without gaps."""
    place = f"({column} & {(1 << PLACE_BITS) - 1})"
    for number, count, first, last in connection.execute(
        f"SELECT {column} >> {PLACE_BITS}, count(*), min({place}), max({place}) "
        f"FROM {table} GROUP BY 1"
    ):
        if first != 1 or last != count:
            what = "lines" if table == "journal" else "entries"
            yield f"{of} {number}: {what} are numbered {first} to {last}, but there are {count}"


def _orphans(connection: sqlite3.Connection) -> Iterator[str]:
    for table, column, owner, key in (
        ("entries", "entry_id", "sessions", "session"),
        ("journal", "line_id", "connections", "connection"),
    ):
        for (number,) in connection.execute(
            f"SELECT DISTINCT {column} >> {PLACE_BITS} AS number FROM {table} WHERE number > 0 "
            f"AND number NOT IN (SELECT {key} FROM {owner})"
        ):
            yield f"{table} of unknown {key} {number}"


class _StoredMessages:
    """The stored messages of each connection, by line."""

    def __init__(self) -> None:
        self.by_line: dict[tuple[int, int], list[tuple[Message, str]]] = defaultdict(list)
        self.last: dict[int, int] = defaultdict(int)
        """The last line of each connection from which a message was stored."""
        self.speakers: dict[int, set[str | None]] = defaultdict(set)

    def add(self, number: int, message: Message, where: str) -> None:
        self.by_line[number, message.line].append((_timeless(message), where))
        self.last[number] = max(self.last[number], message.line)
        self.speakers[number].add(message.session_id)

    def is_due(self, number: int, message: Message) -> bool:
        """Whether the message must have been stored. The newest lines, and sessions just being
        opened, may still be in flight.
        """
        known = message.session_id in self.speakers[number]
        return known and message.line < self.last[number]


def _replayed(
    connection: sqlite3.Connection,
    number: int,
    harness: str,
    replay: Replay,
    stored_messages: _StoredMessages,
) -> Iterator[str]:
    """Compare the messages parsed from a connection's lines with what was stored from it."""
    lines = (
        JournalLine(bool(sent), bytes(raw), length)
        for sent, raw, length in connection.execute(
            "SELECT sent, raw, length FROM journal WHERE line_id BETWEEN ? AND ? ORDER BY line_id",
            (row_id(number, 1), row_id(number + 1, 0) - 1),
        )
    )
    missing: list[Message] = []
    for message in replay(harness, lines):
        if isinstance(message, Delta):
            continue
        stored = stored_messages.by_line.get((number, message.line), [])
        plain = _timeless(message)
        found = next((each for each in stored if each[0] == plain), None)
        if found is not None:
            stored.remove(found)
        elif not isinstance(message, (*_OURS, Unknown)) and stored_messages.is_due(number, message):
            missing.append(message)
    more = [
        each for (of, _), left in stored_messages.by_line.items() if of == number for each in left
    ]
    # If we ended a turn before the agent reported its start, we also emitted that start.
    ended = {message.turn_id for message, _ in more if isinstance(message, TurnEnded)}
    started = {m.turn_id for m, _ in more if isinstance(m, TurnStarted) and m.turn_id in ended}
    for message in missing:
        if not isinstance(message, TurnStarted) or message.turn_id not in started:
            kind = message.__struct_config__.tag
            yield f"connection {number}, line {message.line}: its {kind} was not stored"
    for message, where in more:
        is_ours = isinstance(message, TurnStarted) and message.turn_id in started
        # A prompt that the agent never echoed is emitted when its turn ends, even if we ended the
        # turn.
        is_ours |= isinstance(message, Prompt) and message.turn_id in ended
        if not is_ours and not isinstance(message, _OURS):
            yield f"{where}: line {message.line} of connection {number} does not contain this message"


def _timeless(message: Message) -> Message:
    """Return the message without its time, because dialects without times are parsed without them."""
    return msgspec.structs.replace(message, at=None)


def _limited(sentences: Iterator[str]) -> Iterator[str]:
    for count, sentence in enumerate(sentences):
        if count == _MOST:
            yield "… and more"
            return
        yield sentence
