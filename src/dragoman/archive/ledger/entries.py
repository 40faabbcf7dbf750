"""What one file tells about tokens, in a form that is small to keep and quick to add up.

An entry is one report that was counted. It carries what is needed to find the same report in another
file: a fork and its parent, a session file and the recording of the program that wrote it. Most sessions
are told by one file alone, and most questions are about sums: for those, entries are summed up into subtotals
when the file is read, and stay packed until somebody asks for them.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final, Literal, TypeAlias

import msgspec

from dragoman.model.usage import Usage

Rule: TypeAlias = Literal[
    "response", "difference of totals", "counter began anew", "turn total", "first turn total"
]
RULES: Final[dict[Rule, str]] = {
    "response": "the count of one model response, as the harness wrote it",
    "difference of totals": "the total grew by more than the newest response: what it grew by",
    "counter began anew": "the total went back or started again: the newest response's own count",
    "turn total": "only totals are told: what the total grew by in this turn",
    "first turn total": "only totals are told, and this is the stream's first",
}
"""How an entry's tokens were counted."""
_RULE_NAMES: Final = tuple(RULES)
_NUMBERS: Final = {rule: number for number, rule in enumerate(_RULE_NAMES)}


class LedgerEntry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One counted report, by its place in one file."""

    session: str
    turn: str | None
    at: float | None
    """When, in seconds since 1970; None where the dialect carries no time."""
    model: str | None
    project: str | None
    line: int
    input: int
    cached: int
    cache_write: int
    output: int
    reasoning: int
    total_input: int
    """The session's running total after this report, as this file tells it."""
    total_output: int
    rule_number: int

    @property
    def count(self) -> int:
        """As a subtotal has it."""
        return 1

    @property
    def usage(self) -> Usage:
        return Usage(self.input, self.cached, self.cache_write, self.output, self.reasoning)

    @property
    def rule(self) -> Rule:
        return _RULE_NAMES[self.rule_number]

    @property
    def is_of_turn(self) -> bool:
        """Whether it counts a whole turn, for want of anything finer."""
        return self.rule_number >= _OF_TURN

    @property
    def moment(self) -> datetime | None:
        return None if self.at is None else datetime.fromtimestamp(self.at, UTC)

    @property
    def has_named_turn(self) -> bool:
        """Whether the turn has a name that no other turn has."""
        return self.turn is not None and len(self.turn) == 36

    @property
    def mark(self) -> tuple[object, ...]:
        """What the same report has in every file that holds it.

        A turn named by a UUID is a mark, and then running totals are not needed, which live streams
        and session files do not always agree on. Other turns are only numbered within one stream.
        """
        own = (self.input, self.output, self.cached, self.cache_write, self.reasoning)
        if self.has_named_turn:
            return (self.turn, *own)
        return (self.total_input, self.total_output, *own)


_OF_TURN: Final = _NUMBERS["turn total"]


def rule_number(rule: Rule) -> int:
    return _NUMBERS[rule]


class LedgerSession(msgspec.Struct, array_like=True, gc=False):
    """What one file tells about a session, tokens aside."""

    session: str
    at: float | None = None
    model: str | None = None
    project: str | None = None
    parent: str | None = None
    turns: int = 0


QUARTER: Final = 900
"""Seconds: no clock on earth changes its day more finely, so a subtotal lies in one day everywhere."""
SHORT: Final = 200_000
"""Requests with more input tokens may have a price of their own: they are not summed up with others."""


class Subtotal(msgspec.Struct, array_like=True, gc=False):
    """Entries of one file that follow one another and differ in nothing that sums are asked by."""

    session: str
    model: str | None
    project: str | None
    at: float | None
    """When the first of them was told. All are of the same quarter of an hour."""
    count: int
    input: int
    cached: int
    cache_write: int
    output: int
    reasoning: int

    @property
    def usage(self) -> Usage:
        return Usage(self.input, self.cached, self.cache_write, self.output, self.reasoning)


def subtotals_of(entries: Iterable[LedgerEntry]) -> list[Subtotal]:
    """The entries summed up, but for those that must be valued one by one."""
    subtotals: list[Subtotal] = []
    subtotal: Subtotal | None = None
    first = begins = ends = 0.0  # when the subtotal begins, and the quarter of an hour it lies in
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
    )


class FileUsage(msgspec.Struct, array_like=True, gc=False):
    """Everything one file tells about tokens."""

    fingerprint: str
    """Equal for files of equal content."""
    sessions: list[LedgerSession]
    """The file's own session first; those it only copies rows from do not appear."""
    subtotals: list[Subtotal]
    packed: bytes
    """The entries that the subtotals sum up."""
    problem: str | None = None
    """Why it could not be read, or not to its end."""

    @classmethod
    def of(
        cls, fingerprint: str, sessions: list[LedgerSession], entries: list[LedgerEntry]
    ) -> FileUsage:
        return cls(fingerprint, sessions, subtotals_of(entries), _pack(entries))

    @classmethod
    def unread(cls, problem: str) -> FileUsage:
        words = problem.encode(
            "utf-8", "backslashreplace"
        ).decode()  # with a path, which may be no UTF-8
        return cls("", [], [], _pack([]), words)

    @property
    def entries(self) -> list[LedgerEntry]:
        return _unpack(self.packed)

    def is_only_of(self, session: str) -> bool:
        """Whether this file is that session's own, and of no other."""
        return len(self.sessions) == 1 and self.sessions[0].session == session


_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(list[LedgerEntry]).decode
