"""The hub's journal: every line of every connection is stored before it is parsed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from dragoman.drive.secrets import Secrets
from dragoman.hub.live.registry import LiveRegistry
from dragoman.hub.live.source import Source
from dragoman.store.live.reading import JournalLine
from dragoman.wire.lines import LongLine


class HubJournal:
    """The journal of one harness. Values that are known to be secret are masked."""

    def __init__(self, registry: LiveRegistry, harness: str, secrets: Iterable[str] = ()) -> None:
        self._registry = registry
        self._harness = harness
        self._secrets = Secrets(secrets)
        self._open: list[ConnectionLog] = []

    def begin(self) -> ConnectionLog:
        """A new connection: its lines are counted from 1."""
        number = self._registry.store.begin_connection(self._harness, datetime.now(UTC))
        self._open = [log for log in self._open if not log.is_over]
        log = ConnectionLog(self._registry, Source(number, self._harness), self._secrets)
        self._open.append(log)
        return log

    def end(self) -> None:
        """No more lines will come, and all that came are stored."""
        for log in self._open:
            log.end()

    def received(self, lines: Iterable[bytes | LongLine]) -> None:
        """Lines of the newest connection."""
        self._newest().received(lines)

    def sent(self, lines: Iterable[bytes]) -> None:
        """As :meth:`received`."""
        self._newest().sent(lines)

    def _newest(self) -> ConnectionLog:
        return self._open[-1] if self._open else self.begin()


class ConnectionLog:
    """The lines of one connection."""

    def __init__(self, registry: LiveRegistry, source: Source, secrets: Secrets) -> None:
        self.source = source
        self.is_over = False
        self._registry = registry
        self._store = registry.store
        self._secrets = secrets
        self._lines = 0

    def end(self) -> None:
        if not self.is_over:
            self.is_over = True
            self._store.end_connection(self.source.number)

    def received(self, lines: Iterable[bytes | LongLine]) -> None:
        self._add([self._received(line) for line in lines])

    def sent(self, lines: Iterable[bytes]) -> None:
        mask = self._secrets.mask_line
        first = self._lines + 1
        self._add([JournalLine(True, mask(line.rstrip(b"\n"))) for line in lines])
        if self._registry.steering:
            self.source.steering_lines.update(range(first, self._lines + 1))

    def _received(self, line: bytes | LongLine) -> JournalLine:
        mask = self._secrets.mask_line
        if isinstance(line, LongLine):
            return JournalLine(False, mask(line.head) + b"\n" + mask(line.tail), line.length)
        return JournalLine(False, mask(line))

    def _add(self, lines: Sequence[JournalLine]) -> None:
        if not lines or self.is_over:
            return
        size = sum(len(line.raw) for line in lines)
        number, first = self.source.number, self._lines + 1
        self._store.add_lines(number, first, lines, datetime.now(UTC), size)
        self._lines += len(lines)
