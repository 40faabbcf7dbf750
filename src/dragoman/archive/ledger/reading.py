"""Count the usage in one file: which reports count, and how many tokens each adds.

Harnesses report running totals, the tokens of the newest response, or both. They repeat reports at
the start of a turn, on resume and in the first lines of a fork, and some restart their counter with
each process. What a report adds depends only on the previous report of the same session in the same
file; a report that names its response adds that response, whatever the totals say. Duplicates in
other files are found when the files are merged.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import chain, islice
from typing import Final

import msgspec

from dragoman.archive.ledger.entries import FileUsage, LedgerEntry, LedgerSession, Rule, rule_number
from dragoman.errors import UnreadableSource
from dragoman.harnesses import fast_usage_reader
from dragoman.harnesses.contract.history import Origin
from dragoman.model.messages import Message, SessionStarted, TurnStarted, UsageReport
from dragoman.model.usage import Usage
from dragoman.reading.compression import MAGIC
from dragoman.reading.file_lines import open_file, other_lines, plain_lines
from dragoman.reading.identity import FIRST_LINES, identify
from dragoman.reading.read import read
from dragoman.reading.regular import open_regular
from dragoman.reading.sources import BOMS, is_plain, unreadable
from dragoman.wire.lines import DEFAULT_MAX_LINE

try:
    from _blake2 import blake2b  # the same, without loading OpenSSL
except ImportError:
    from hashlib import blake2b

PREFIX: Final = 4096
_BUFFER: Final = 1 << 18
_STEP: Final = 255
"""How many lines are read before their messages are counted."""
_RESPONSE: Final = rule_number("response")
_ONLY: Final = frozenset(("usage", "session_started", "turn_started"))


def read_file_usage(path: str | os.PathLike[str]) -> FileUsage:
    """Return the usage of one file. Never raises: ``problem`` says why a file cannot be read."""
    name = os.fspath(path)
    try:
        return _of_plain(name) or _of_any(name)
    except UnreadableSource as problem:
        return FileUsage.unread(str(problem))
    except OSError as problem:
        return FileUsage.unread(str(unreadable(name, problem)))


def _of_plain(path: str) -> FileUsage | None:
    """Count an ordinary file with the harness's fast path; None if that does not support it."""
    with open_regular(path, buffering=_BUFFER) as file:
        head, size = file.read(PREFIX), os.fstat(file.fileno()).st_size
        # Of a compressed file no harness knows the first bytes: to ask would import them all.
        may_be_plain = size <= DEFAULT_MAX_LINE and not head.startswith((*MAGIC, *BOMS))
        plain = fast_usage_reader(head) if may_be_plain else None
        if plain is None:
            return None
        file.seek(0)
        reader = FileUsageReader(_fingerprint(head, size))
        first = list(islice(file, FIRST_LINES))
        lines: Iterable[bytes] = first
        while True:
            if not plain.receive_lines(lines):
                return None
            reader.receive_all(plain.messages())
            if (line := next(file, None)) is None:
                break
            # Line by line: each takes the place in memory of the one before it.
            lines = chain((line,), islice(file, _STEP))
    plain.receive_eof()
    reader.receive_all(plain.messages())
    reader.know_origin(identify(reader.harness, path, first))
    return reader.file_usage()


def _of_any(path: str) -> FileUsage:
    reader = FileUsageReader(fingerprint_of(path))
    reader.receive_all(read(path, only=_ONLY))
    reader.know_origin(identify(reader.harness, path, _first_lines(path)))
    return reader.file_usage()


def _first_lines(path: str) -> list[bytes]:
    with open_file(path) as file:
        pieces = plain_lines(file, 0) if is_plain(file) else other_lines(file)
        first = next(pieces, None)
    return [line for line in first.lines if isinstance(line, bytes)] if first is not None else []


def fingerprint_of(path: str | os.PathLike[str]) -> str:
    """Return an identifier of a file's content: its size and a hash of its beginning."""
    with open_regular(path, buffering=PREFIX) as file:
        return _fingerprint(file.read(PREFIX), os.fstat(file.fileno()).st_size)


def _fingerprint(head: bytes, size: int) -> str:
    return f"{blake2b(head, digest_size=12).hexdigest()}-{size:x}"


class _Counter:
    """The state of one session while its stream is read."""

    __slots__ = ("at", "facts", "model", "project", "total", "turns")

    def __init__(self, facts: LedgerSession) -> None:
        self.facts = facts
        self.model: str | None = None
        self.project: str | None = None
        self.turns: set[str | None] = set()
        self.total: Usage | None = None
        self.at: float | None = None
        """When its newest counted response was."""


class FileUsageReader:
    """Counts the usage in a stream of messages."""

    def __init__(self, fingerprint: str) -> None:
        self._fingerprint = fingerprint
        self._counters: dict[str | None, _Counter] = {}
        self._sessions: list[LedgerSession] = []
        self._entries: list[LedgerEntry] = []
        self._newest: _Counter | None = None

    @property
    def harness(self) -> str | None:
        """The harness that wrote the file's own session."""
        return self._sessions[0].harness if self._sessions else None

    def know_origin(self, origin: Origin | None) -> None:
        """Take the harness's information on where the file's session comes from."""
        for facts in self._sessions:
            if origin is not None and facts.session == origin.session_id:
                facts.origin = origin.kind
                facts.parent = facts.parent or origin.parent_session_id

    def receive_all(self, messages: Iterable[Message]) -> None:
        """Count messages. Only three types matter; others are ignored."""
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
        return FileUsage.of(self._fingerprint, self._sessions, self._with_projects())

    def _with_projects(self) -> list[LedgerEntry]:
        """Give rows that were copied before the file's own session started the project of that session."""
        own = self._sessions[0].project if self._sessions else None
        if own is None or all(entry.project is not None for entry in self._entries):
            return self._entries
        return [
            entry if entry.project is not None else msgspec.structs.replace(entry, project=own)
            for entry in self._entries
        ]

    def _begin(self, session_id: str | None) -> _Counter:
        # Nothing else can refer to a session without an id, so derive a unique one from the
        # content.
        name = session_id if session_id is not None else f"unnamed-{self._fingerprint[:8]}"
        counter = self._counters[session_id] = _Counter(LedgerSession(name))
        if self._newest is not None:
            # Copied rows lack the start of the session they come from, so inherit model and
            # project.
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
        facts.harness = message.harness
        if facts.origin is None and message.parent_call_id is not None:
            facts.origin = "sub-agent"

    def _report(self, counter: _Counter, report: UsageReport) -> None:
        before, total, last = counter.total, report.total, report.last
        costs = counter.facts.costs
        if report.cost is not None and (not costs or costs[-1][1] != report.cost):
            costs.append((counter.at, report.cost))
        if total is None:
            return
        counter.total = total
        if report.response_id is not None and last is not None:
            own, rule = last, _RESPONSE
        elif (
            before is not None
            and last is not None
            and before.input_tokens + last.input_tokens == total.input_tokens
            and before.output_tokens + last.output_tokens == total.output_tokens
        ):
            own, rule = last, _RESPONSE  # the usual case: the total grew by exactly this response
        else:
            counted = self._count(counter, before, total, report)
            if counted is None:
                return
            own, rule = counted[0], rule_number(counted[1])
        if not (own.input_tokens or own):
            return
        at = counter.at = report.at.timestamp() if report.at is not None else None
        self._entries.append(
            LedgerEntry(
                counter.facts.session,
                report.turn_id,
                at,
                report.model or counter.model,
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
                own.cache_write_1h_input_tokens,
                report.response_id,
            )
        )

    def _count(
        self, counter: _Counter, before: Usage | None, total: Usage, report: UsageReport
    ) -> tuple[Usage, Rule] | None:
        """Return what a report adds, and by which rule; None if it repeats earlier usage."""
        last = report.last
        if before is not None:
            return _since(before, total, last)
        if report.turn_id not in counter.turns:
            return None  # the first report after a resume or fork repeats the inherited total
        if last is None:
            return total, "first turn total"
        if total != last and self._was_counted(total, last):
            return None  # up to 0.120, a fork reports the inherited total within its first turn
        return last, "response"

    def _was_counted(self, total: Usage, last: Usage) -> bool:
        """Whether another session in this stream reported the same."""
        wanted = (total.input_tokens, total.output_tokens, last.input_tokens, last.output_tokens)
        return any(
            wanted == (entry.total_input, entry.total_output, entry.input, entry.output)
            for entry in self._entries
        )


def _since(before: Usage, total: Usage, last: Usage | None) -> tuple[Usage, Rule]:
    if last is None:
        return total - before, "turn total"
    # The total grew by more than this response: reports in between are missing, so count the growth.
    if (before + last).fits_in(total):
        return total - before, "difference of totals"
    return last, "counter restarted"
