"""From one file's messages to its account: which reports count, and how much each is worth.

Harnesses tell running totals, the newest response's own tokens, or both; they repeat them at the
start of a turn, when a session is resumed, and in the first lines of a fork; and some start their
counter anew with each process. What a report is worth follows from the report before it in the same
session and the same file, and from nothing else: what is told again in another file is found when
file_usages are put together.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from dragoman.archive.ledger.entries import FileUsage, LedgerEntry, LedgerSession, Rule, rule_number
from dragoman.errors import UnreadableSource
from dragoman.model.messages import Message, SessionStarted, TurnStarted, UsageReport
from dragoman.model.usage import Usage
from dragoman.reading.parsers import fast_usage_reader
from dragoman.reading.read import read
from dragoman.reading.regular import open_regular
from dragoman.reading.sources import BATCH, unreadable
from dragoman.wire.lines import DEFAULT_MAX_LINE

PREFIX: Final = 4096
_BUFFER: Final = 1 << 18
_RESPONSE: Final = rule_number("response")
_ONLY: Final = frozenset(("usage", "session_started", "turn_started"))


def read_file_usage(path: str | Path) -> FileUsage:
    """The account of one file. Never raises: a file that cannot be read says why."""
    name = str(path)
    try:
        return _of_plain(name) or _of_any(name)
    except UnreadableSource as problem:
        return FileUsage.unread(str(problem))
    except OSError as problem:
        return FileUsage.unread(str(unreadable(name, problem)))


def _of_plain(path: str) -> FileUsage | None:
    """The account of a plain file; None for any other."""
    with open_regular(path, buffering=_BUFFER) as file:
        head, size = file.read(PREFIX), os.fstat(file.fileno()).st_size
        plain = fast_usage_reader(head) if size <= DEFAULT_MAX_LINE else None
        if plain is None:
            return None
        file.seek(0)
        reader = FileUsageReader(_fingerprint(head, size))
        while lines := file.readlines(BATCH):
            if not plain.receive_lines(lines):
                return None
            reader.receive_all(plain.messages())
    plain.receive_eof()
    reader.receive_all(plain.messages())
    return reader.file_usage()


def _of_any(path: str) -> FileUsage:
    reader = FileUsageReader(fingerprint_of(Path(path)))
    reader.receive_all(read(path, only=_ONLY))
    return reader.file_usage()


def fingerprint_of(path: Path) -> str:
    """A name for a file's content: its size and the hash of its beginning."""
    with open_regular(path, buffering=PREFIX) as file:
        return _fingerprint(file.read(PREFIX), os.fstat(file.fileno()).st_size)


def _fingerprint(head: bytes, size: int) -> str:
    return f"{hashlib.blake2b(head, digest_size=12).hexdigest()}-{size:x}"


class _Counter:
    """One session as one stream counts it."""

    __slots__ = ("facts", "model", "project", "total", "turns")

    def __init__(self, facts: LedgerSession) -> None:
        self.facts = facts
        self.model: str | None = None
        self.project: str | None = None
        self.turns: set[str | None] = set()
        self.total: Usage | None = None


class FileUsageReader:
    """Takes a stream's messages in and counts."""

    def __init__(self, fingerprint: str) -> None:
        self._fingerprint = fingerprint
        self._counters: dict[str | None, _Counter] = {}
        self._sessions: list[LedgerSession] = []
        self._entries: list[LedgerEntry] = []
        self._newest: _Counter | None = None

    def receive_all(self, messages: Iterable[Message]) -> None:
        """Take messages in. Only three types matter; others may come."""
        for message in messages:
            kind = message.__class__
            counter = self._counters.get(message.session_id) or self._begin(message.session_id)
            if kind is UsageReport:
                self._report(counter, message)  # pyright: ignore[reportArgumentType]
            elif kind is TurnStarted:
                counter.turns.add(message.turn_id)
            elif isinstance(message, SessionStarted):
                self._started(counter, message)

    def file_usage(self) -> FileUsage:
        for counter in self._counters.values():
            counter.facts.turns = len(counter.turns)
        return FileUsage.of(self._fingerprint, self._sessions, self._entries)

    def _begin(self, session_id: str | None) -> _Counter:
        # A stream that does not name its session is the only one that can tell of it.
        name = session_id if session_id is not None else f"unnamed-{self._fingerprint[:8]}"
        counter = self._counters[session_id] = _Counter(LedgerSession(name))
        if self._newest is not None:
            # Copied rows come without the facts of the session that they were copied from.
            counter.model, counter.project = self._newest.model, self._newest.project
        return counter

    def _started(self, counter: _Counter, message: SessionStarted) -> None:
        facts = counter.facts
        self._newest = counter
        counter.model = message.model or counter.model
        counter.project = message.cwd or counter.project
        if not any(each is facts for each in self._sessions):
            self._sessions.append(facts)
            facts.at = message.at.timestamp() if message.at is not None else None
        facts.model = facts.model or message.model
        facts.project = facts.project or message.cwd
        facts.parent = facts.parent or message.parent_session_id

    def _report(self, counter: _Counter, report: UsageReport) -> None:
        before, total, last = counter.total, report.total, report.last
        if total is None:
            return
        counter.total = total
        if (
            before is not None
            and last is not None
            and before.input_tokens + last.input_tokens == total.input_tokens
            and before.output_tokens + last.output_tokens == total.output_tokens
        ):
            own, rule = last, _RESPONSE  # what nearly all reports are
        else:
            counted = self._count(counter, before, total, report)
            if counted is None:
                return
            own, rule = counted[0], rule_number(counted[1])
        if not (own.input_tokens or own):
            return
        at = report.at
        self._entries.append(
            LedgerEntry(
                counter.facts.session,
                report.turn_id,
                at.timestamp() if at is not None else None,
                counter.model,
                counter.project,
                report.line,
                own.input_tokens,
                own.cached_input_tokens,
                own.cache_write_input_tokens,
                own.output_tokens,
                own.reasoning_output_tokens,
                total.input_tokens,
                total.output_tokens,
                rule,
            )
        )

    def _count(
        self, counter: _Counter, before: Usage | None, total: Usage, report: UsageReport
    ) -> tuple[Usage, Rule] | None:
        """What a report is worth, and by which rule; None if it repeats what was spent before."""
        last = report.last
        if before is not None:
            return _since(before, total, last)
        if report.turn_id not in counter.turns:
            return None  # a resumed session's or a fork's first word is what there was before
        if last is None:
            return total, "first turn total"
        if total != last and self._was_counted(total, last):
            return None  # up to 0.120 a fork says inside its first turn what it inherits
        return last, "response"

    def _was_counted(self, total: Usage, last: Usage) -> bool:
        """Whether another session of this stream has told the same."""
        wanted = (total.input_tokens, total.output_tokens, last.input_tokens, last.output_tokens)
        return any(
            wanted == (entry.total_input, entry.total_output, entry.input, entry.output)
            for entry in self._entries
        )


def _since(before: Usage, total: Usage, last: Usage | None) -> tuple[Usage, Rule]:
    if last is None:
        return total - before, "turn total"
    if (before + last).fits_in(total):
        return total - before, "difference of totals"
    return last, "counter began anew"
