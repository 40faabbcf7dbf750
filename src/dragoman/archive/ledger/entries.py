"""The token usage of one file, in a form that is small to store and fast to sum.

An entry is one counted usage report. It carries what is needed to recognize the same report in
another file: in a fork and its parent, or in a session file and a recording of the program that
wrote it. Harnesses that give each model response an id make that easy; for the others, an entry is
recognized by its turn and its numbers. Most sessions appear in one file only and most queries ask for sums, so entries are also
summed into subtotals when the file is read, and stay encoded until they are needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final, Literal, TypeAlias

import msgspec

from dragoman.model.usage import Usage

Rule: TypeAlias = Literal[
    "response", "difference of totals", "counter restarted", "turn total", "first turn total"
]
RULES: Final[dict[Rule, str]] = {
    "response": "the tokens of one model response, as the harness reports them",
    "difference of totals": "the total grew by more than the newest response, so the growth counts",
    "counter restarted": "the total decreased or restarted, so the newest response counts",
    "turn total": "only totals are reported, so the growth in this turn counts",
    "first turn total": "only totals are reported, and this is the first one in the stream",
}
"""How the tokens of an entry were counted."""
_RULE_NAMES: Final = tuple(RULES)
_NUMBERS: Final = {rule: number for number, rule in enumerate(_RULE_NAMES)}


class LedgerEntry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One counted usage report and its position in a file."""

    session: str
    turn: str | None
    at: float | None
    """In seconds since 1970; None if the dialect carries no time."""
    model: str | None
    project: str | None
    line: int
    input: int
    cached: int
    cache_write: int
    output: int
    reasoning: int
    total_input: int
    """The session's running total after this report, according to this file."""
    total_output: int
    rule_number: int
    cache_write_1h: int = 0
    response: str | None = None
    """The id of the model response, if the harness gives it one."""

    @property
    def count(self) -> int:
        """The number of reports, as in a subtotal."""
        return 1

    @property
    def usage(self) -> Usage:
        return _usage_of(self)

    @property
    def rule(self) -> Rule:
        return _RULE_NAMES[self.rule_number]

    @property
    def is_of_turn(self) -> bool:
        """Whether it counts a whole turn, because the file reports nothing finer."""
        return self.rule_number >= _OF_TURN

    @property
    def moment(self) -> datetime | None:
        return None if self.at is None else datetime.fromtimestamp(self.at, UTC)

    @property
    def has_named_turn(self) -> bool:
        """Whether the turn id is globally unique: a UUID."""
        return self.turn is not None and len(self.turn) == 36

    @property
    def mark(self) -> tuple[object, ...]:
        """What identifies the same report in every file that contains it.

        The id of the response, if it has one. If the turn has a UUID, that and the report's own tokens
        suffice. Running totals are left
        out then, because live streams and session files do not always agree on them. Other turn ids
        are only counters within one stream, so there the running totals are needed.
        """
        if self.response is not None:
            return (self.response,)
        own = (self.input, self.output, self.cached, self.cache_write, self.reasoning)
        if self.has_named_turn:
            return (self.turn, *own)
        return (self.total_input, self.total_output, *own)


_OF_TURN: Final = _NUMBERS["turn total"]


def rule_number(rule: Rule) -> int:
    return _NUMBERS[rule]


class LedgerSession(msgspec.Struct, array_like=True, gc=False):
    """What one file contains about a session, apart from tokens."""

    session: str
    at: float | None = None
    model: str | None = None
    project: str | None = None
    parent: str | None = None
    turns: int = 0
    harness: str | None = None
    origin: str | None = None
    """``fork``, ``sub-agent`` …; None for a session the user started, or if the file does not contain it."""
    costs: list[tuple[float | None, float]] = []
    """US dollars for the session so far, as the agent itself reported them, with the time of the response
    before each report. A resumed or forked session continues its predecessor's amount."""


QUARTER: Final = 900
"""Seconds. Time zone offsets are multiples of this, so a subtotal never spans two days in any zone."""
SHORT: Final = 200_000
"""Requests with more input tokens may be priced differently, so they are not merged into subtotals."""


class Subtotal(msgspec.Struct, array_like=True, gc=False):
    """The sum of consecutive entries of one file that agree in everything a summary can group by."""

    session: str
    model: str | None
    project: str | None
    at: float | None
    """The time of the earliest of them. All lie within the same quarter of an hour."""
    count: int
    input: int
    cached: int
    cache_write: int
    output: int
    reasoning: int
    cache_write_1h: int = 0

    @property
    def usage(self) -> Usage:
        return _usage_of(self)


def _usage_of(each: LedgerEntry | Subtotal) -> Usage:
    return Usage(
        each.input,
        each.cached,
        each.cache_write,
        each.output,
        each.reasoning,
        each.cache_write_1h,
    )


def subtotals_of(entries: Iterable[LedgerEntry]) -> list[Subtotal]:
    """Merge entries into subtotals, except those that must be priced one by one."""
    subtotals: list[Subtotal] = []
    subtotal: Subtotal | None = None
    first = begins = ends = 0.0  # the time of the subtotal, and the quarter of an hour it lies in
    for entry in entries:
        at, tokens, cached = entry.at, entry.input, entry.cached + entry.cache_write
        if tokens > SHORT or cached > tokens:
            subtotals.append(_subtotal(entry))
            subtotal = None
        elif (
            subtotal is not None
            and at is not None
            and begins <= at < ends
            and entry.model == subtotal.model
            and entry.session == subtotal.session
            and entry.project == subtotal.project
        ):
            subtotal.count += 1
            subtotal.input += tokens
            subtotal.cached += entry.cached
            subtotal.cache_write += entry.cache_write
            subtotal.output += entry.output
            subtotal.reasoning += entry.reasoning
            subtotal.cache_write_1h += entry.cache_write_1h
            if at < first:
                subtotal.at = first = at
        else:
            subtotal = _subtotal(entry)
            subtotals.append(subtotal)
            first = begins = ends = 0.0
            if at is not None:
                first, begins = at, at // QUARTER * QUARTER
                ends = begins + QUARTER
    return subtotals


def _subtotal(entry: LedgerEntry) -> Subtotal:
    return Subtotal(
        entry.session,
        entry.model,
        entry.project,
        entry.at,
        1,
        entry.input,
        entry.cached,
        entry.cache_write,
        entry.output,
        entry.reasoning,
        entry.cache_write_1h,
    )


class FileUsage(msgspec.Struct, array_like=True, gc=False):
    """Everything one file contains about tokens."""

    fingerprint: str
    """Equal for files with equal content."""
    sessions: list[LedgerSession]
    """The file's own session first. Sessions from which it only copies rows are not included."""
    subtotals: list[Subtotal]
    packed: bytes
    """The encoded entries that the subtotals sum up."""
    problem: str | None = None
    """Why it could not be read, or not to its end."""
    responses: bytes = b""
    """A short hash of each response id in it, to find files that share responses without unpacking them."""

    @classmethod
    def of(
        cls, fingerprint: str, sessions: list[LedgerSession], entries: list[LedgerEntry]
    ) -> FileUsage:
        hashes = b"".join(_hash(entry.response) for entry in entries if entry.response is not None)
        return cls(fingerprint, sessions, subtotals_of(entries), _pack(entries), responses=hashes)

    @classmethod
    def unread(cls, problem: str) -> FileUsage:
        words = problem.encode(
            "utf-8", "backslashreplace"
        ).decode()  # it contains a path, which may not be UTF-8
        return cls("", [], [], _pack([]), words)

    @property
    def entries(self) -> list[LedgerEntry]:
        return _unpack(self.packed)

    def response_hashes(self) -> set[bytes]:
        return {self.responses[at : at + _HASH] for at in range(0, len(self.responses), _HASH)}

    @property
    def is_fork(self) -> bool:
        """Whether the file's own session is a fork, so that it may contain copies of its parent's rows."""
        return bool(self.sessions) and self.sessions[0].origin == "fork"

    def is_only_of(self, session: str) -> bool:
        """Whether this file belongs to that session and no other."""
        return len(self.sessions) == 1 and self.sessions[0].session == session


_HASH: Final = 8


def _hash(response: str) -> bytes:
    from hashlib import blake2b  # loads OpenSSL

    return blake2b(response.encode("utf-8", "replace"), digest_size=_HASH).digest()


_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(list[LedgerEntry]).decode
