"""Writing the live store: one thread that commits what has gathered, all of it at once.

Whoever hands something over does not wait for the disk. What is to be deliveries goes through the same
queue: it comes out, in its order, when everything before it is committed, so nobody can be deliveries what a
crash could take back. While the disk is slower than the agents, the queue fills and handing over
waits, and so do the agents. While it cannot be written at all nothing comes out; it is tried again.
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
"""What may wait to be written; as much again may be being written."""
_OVERHEAD: Final = 100
_RETRY_SECONDS: Final = 0.5

_LINE: Final = "INSERT INTO journal VALUES (?, ?, ?, ?, ?)"
_ENTRY: Final = "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)"


class _Batch:
    """What is committed together."""

    __slots__ = ("deliveries", "entries", "lines", "others", "size")

    def __init__(self) -> None:
        self.lines: list[tuple[Any, ...]] = []
        self.entries: list[tuple[Any, ...]] = []
        self.others: list[tuple[str, tuple[Any, ...]]] = []
        self.deliveries: list[Any] = []
        self.size = 0


class LiveWriter:
    """Takes rows and things to tell; ``committed`` gets the latter, in the thread of the writer."""

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
        """Why nothing can be written at the moment."""
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
        """Tell this when all that was handed over before is committed."""
        with self._changed:
            self._batch.deliveries.append(delivery)
            self._grew(_OVERHEAD)

    def together(self) -> AbstractContextManager[bool]:
        """What is handed over inside is committed, and deliveries, in one."""
        return self._changed

    def flush(self) -> bool:
        """Wait until all that was handed over is committed; False: it cannot be."""
        done = threading.Event()
        self.publish(done.set)
        while not done.wait(0.05):
            if self.problem is not None or not self._thread.is_alive():
                return False
        return True

    def close(self) -> None:
        """Write what is left, if that is possible, and end."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join()

    def _grew(self, size: int) -> None:
        """With the lock held."""
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
                # A flush is deliveries here and now: nobody else need be awake for it.
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
