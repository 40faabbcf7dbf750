"""The hub's journal: every line of every connection goes to the store before it is understood."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from dragoman.drive.secrets import Secrets
from dragoman.hub.registry import Room
from dragoman.store.live.reading import JournalLine
from dragoman.wire.lines import LongLine


class HubJournal:
    """What a connection is given as its journal. Values that are known to be secret are masked."""

    def __init__(self, room: Room, harness: str, secrets: Iterable[str] = ()) -> None:
        self._room = room
        self._store = room.store
        self._harness = harness
        self._secrets = Secrets(secrets)
        self._lines = 0

    def begin(self) -> None:
        """A new connection: its lines are counted from 1."""
        self.end()
        number = self._store.begin_connection(self._harness, datetime.now(UTC))
        self._room.connection = number
        self._room.steering_lines.clear()
        self._lines = 0

    def end(self) -> None:
        """No more will come on this connection, and all that came is stored."""
        if self._room.connection:
            self._store.end_connection(self._room.connection)
            self._room.connection = 0

    def received(self, lines: Iterable[bytes | LongLine]) -> None:
        self._add([self._received(line) for line in lines])

    def sent(self, lines: Iterable[bytes]) -> None:
        mask = self._secrets.mask_line
        first = self._lines + 1
        self._add([JournalLine(True, mask(line.rstrip(b"\n"))) for line in lines])
        if self._room.steering:
            self._room.steering_lines.update(range(first, self._lines + 1))

    def _received(self, line: bytes | LongLine) -> JournalLine:
        mask = self._secrets.mask_line
        if isinstance(line, LongLine):
            return JournalLine(False, mask(line.head) + b"\n" + mask(line.tail), line.length)
        return JournalLine(False, mask(line))

    def _add(self, lines: Sequence[JournalLine]) -> None:
        if not lines:
            return
        size = sum(len(line.raw) for line in lines)
        connection, first = self._room.connection, self._lines + 1
        self._store.add_lines(connection, first, lines, datetime.now(UTC), size)
        self._lines += len(lines)
