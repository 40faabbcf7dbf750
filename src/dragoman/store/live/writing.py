"""Write the live store: one thread commits everything queued so far in one transaction.

Callers do not wait for the disk. Deliveries go through the same queue and come out in order, after
everything before them is committed, so that nothing is delivered that a crash could undo. If the
disk is slower than the agents, the queue fills up and callers block, which slows the agents down.
While writing fails, nothing is delivered, and the writer retries.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from typing import Any, Final

_log = logging.getLogger(__name__)

MOST_BYTES: Final = 32 << 20
"""How many bytes may wait in the queue. As many again may be being written."""
_OVERHEAD: Final = 100
_RETRY_SECONDS: Final = 0.5

_LINE: Final = "INSERT INTO journal VALUES (?, ?, ?, ?, ?)"
_ENTRY: Final = "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)"


class _Batch:
    """Rows and deliveries that are committed together."""

    __slots__ = ("deliveries", "entries", "lines", "others", "size")

    def __init__(self) -> None:
        self.lines: list[tuple[Any, ...]] = []
        self.entries: list[tuple[Any, ...]] = []
        self.others: list[tuple[str, tuple[Any, ...]]] = []
        self.deliveries: list[Any] = []
        self.size = 0


class LiveWriter:
    """Queues rows and deliveries; ``committed`` receives the deliveries in the writer's thread."""

    def __init__(
        self,
        connect: Callable[[], sqlite3.Connection],
        committed: Callable[[list[Any]], None],
        failed: Callable[[str], None],
    ) -> None:
        self._connect = connect
        self._committed = committed
        self._failed = failed
        self._batch = _Batch()
        self._changed = threading.Condition()
        self._closing = False
        self.problem: str | None = None
        """Why writing currently fails, or None."""
        self.commits = 0
        self._thread = threading.Thread(target=self._run, name="dragoman live store", daemon=True)
        self._thread.start()

    def add_lines(self, rows: list[tuple[Any, ...]], size: int) -> None:
        with self._changed:
            self._batch.lines += rows
            self._grew(size + _OVERHEAD * len(rows))

    def add_entry(self, row: tuple[Any, ...], size: int, delivery: Any) -> None:
        with self._changed:
            self._batch.entries.append(row)
            self._batch.deliveries.append(delivery)
            self._grew(size + _OVERHEAD)

    def add(self, statement: str, *given: Any) -> None:
        with self._changed:
            self._batch.others.append((statement, given))
            self._grew(_OVERHEAD)

    def publish(self, delivery: Any) -> None:
        """Deliver this once everything queued before it is committed."""
        with self._changed:
            self._batch.deliveries.append(delivery)
            self._grew(_OVERHEAD)

    def together(self) -> AbstractContextManager[bool]:
        """Return a context in which everything queued is committed and delivered together."""
        return self._changed

    def flush(self) -> bool:
        """Wait until everything queued is committed. False if writing fails."""
        done = threading.Event()
        self.publish(done.set)
        while not done.wait(0.05):
            if self.problem is not None or not self._thread.is_alive():
                return False
        return True

    def close(self) -> None:
        """Write what is left, if possible, and stop the thread."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join()

    def _grew(self, size: int) -> None:
        """Account for queued bytes and block while the queue is full. Call with the lock held."""
        batch = self._batch
        if not batch.size:
            self._changed.notify_all()
        batch.size += size
        while self._batch.size > MOST_BYTES and self.problem is None and not self._closing:
            self._changed.wait()

    def _run(self) -> None:
        with closing(self._connect()) as connection:
            self._write_until_closed(connection)

    def _write_until_closed(self, connection: sqlite3.Connection) -> None:
        while (batch := self._take()) is not None:
            while not self._write(connection, batch):
                with self._changed:
                    if self._closing:
                        return
                    self._changed.wait(_RETRY_SECONDS)
            deliveries: list[Any] = []
            for each in batch.deliveries:
                # A flush is completed in this thread, so it does not depend on the event loop.
                if callable(each):
                    each()
                else:
                    deliveries.append(each)
            if deliveries:
                self._committed(deliveries)

    def _take(self) -> _Batch | None:
        with self._changed:
            while not self._batch.size:
                if self._closing:
                    return None
                self._changed.wait()
            batch, self._batch = self._batch, _Batch()
            self._changed.notify_all()
            return batch

    def _write(self, connection: sqlite3.Connection, batch: _Batch) -> bool:
        if not (batch.lines or batch.entries or batch.others):
            return True
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(_LINE, batch.lines)
            connection.executemany(_ENTRY, batch.entries)
            for statement, given in batch.others:
                connection.execute(statement, given)
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            if self.problem is None:
                _log.error("the live store cannot be written: %s", error)
                self._failed(str(error))
            with self._changed:
                self.problem = str(error)
                self._changed.notify_all()
            return False
        self.commits += 1
        if self.problem is not None:
            _log.warning("the live store can be written again")
            self.problem = None
        return True
