"""Keeps what is exchanged with programs that keep no sessions themselves: a journal for each process.

The harness defines where (:class:`~dragoman.harnesses.contract.history.History`), and reads the journals again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from uuid import uuid4

from dragoman.drive.links.exchange import Keeper
from dragoman.drive.links.journal import Journal
from dragoman.errors import reason_of
from dragoman.harnesses.contract.history import History
from dragoman.wire.lines import LongLine

_ODD: Final = re.compile(r"[^\w.-]+")


def journal_folder(history: History, env: Mapping[str, str]) -> Path:
    """Where the journals are in this environment."""
    return Path(history.home(env)).expanduser() / history.places[0].folder


class ProcessJournal(Journal):
    """The journal of one process."""

    def end(self) -> None:
        """No more lines will come."""
        self.close()


class OwnJournals:
    """Begins a journal for each process."""

    def __init__(
        self,
        folder: Path,
        program: str,
        *,
        secrets: Iterable[str] = (),
        notify: Callable[[str], None],
    ) -> None:
        self._folder = folder
        self._program = _ODD.sub("-", Path(program).name) or "agent"
        self._secrets = tuple(secrets)
        self._notify = notify
        self._open: list[ProcessJournal] = []

    def begin(self) -> Keeper | None:
        """The journal of a process that is about to start; None if there can be none."""
        now = datetime.now(UTC)
        name = f"{now:%Y-%m-%dT%H-%M-%S}-{self._program}-{uuid4().hex[:8]}.jsonl"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            self._failed(error)
            return None
        journal = ProcessJournal(self._folder / name, secrets=self._secrets, failed=self._failed)
        self._open.append(journal)
        return journal

    def _failed(self, error: OSError) -> None:
        self._notify(f"the session is not kept: {reason_of(error)}; continuing without it")

    def received(self, lines: Iterable[bytes | LongLine]) -> None:
        """Drop the lines of a process that has no journal."""

    def sent(self, lines: Iterable[bytes]) -> None:
        """Drop the lines of a process that has no journal."""

    def close(self) -> None:
        for journal in self._open:
            journal.close()
        self._open.clear()
