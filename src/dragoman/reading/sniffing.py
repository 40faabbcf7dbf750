"""A parser that detects the dialect.

Lines are held until one of them identifies the dialect, then passed to the dialect's parser. If
none ever does, every line is kept as an ``unknown`` or ``malformed`` message.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from dragoman.harnesses import find_dialect, settle_dialect, sniff_dialect
from dragoman.harnesses.contract.reading import Dialect, Duplicate, Ending, Parser
from dragoman.model.messages import Message
from dragoman.wire import jsonl
from dragoman.wire.lines import LongLine

_PATIENCE: Final = 64
"""How many lines are held before the oldest are emitted as unknown."""


class SniffingParser:
    """Reads a stream whose dialect was not given."""

    def __init__(self, *, only: frozenset[str] | None = None, audit: bool = False) -> None:
        self._only = only
        self._audit = audit
        self._held: list[bytes] = []
        self._given_up: list[Message] = []
        self._duplicates: list[Duplicate] = []
        self._lines = 0
        self._parser: Parser | None = None
        self.dialect: Dialect | None = None

    def receive_line(self, line: bytes) -> None:
        if self._parser is not None:
            self._parser.receive_line(line)
            return
        self._lines += 1
        self._held.append(line)
        name = sniff_dialect(self._held)
        dialect = find_dialect(name) if name else None
        if dialect is not None:
            self._begin(dialect)
        elif len(self._held) > _PATIENCE:
            self._give_up(self._held.pop(0), self._lines - _PATIENCE)

    def receive_lines(self, lines: Iterable[bytes]) -> None:
        rest = iter(lines)
        while self._parser is None:
            line = next(rest, None)
            if line is None:
                return
            self.receive_line(line)
        self._parser.receive_lines(rest)

    def _begin(self, dialect: Dialect) -> None:
        self.dialect = dialect
        parser = dialect.make_parser(only=self._only, audit=self._audit)
        given_up = self._lines - len(self._held)
        for _ in range(given_up):
            parser.receive_line(b"")  # already emitted above; the parser only needs to count them
        parser.duplicates()
        for line in self._held:
            parser.receive_line(line)
        self._held = []
        self._parser = parser

    def _give_up(self, line: bytes, number: int) -> None:
        if jsonl.is_blank(line):
            self._duplicates.append(Duplicate(number, "blank line"))
            return
        try:
            jsonl.loads(line)
        except jsonl.NotJson:
            self._given_up.append(jsonl.malformed(line, number=number))
        else:
            self._given_up.append(jsonl.unknown(line, "no known dialect", number=number))

    def receive_long_line(self, line: LongLine) -> None:
        if self._parser is None:
            self._settle()  # decide now, because a truncated line cannot identify a dialect
        if self._parser is not None:
            self._parser.receive_long_line(line)
            return
        self._give_up_all()
        self._lines += 1
        self._given_up.append(jsonl.malformed(line, number=self._lines))

    def receive_eof(self, ending: Ending = "over") -> None:
        if self._parser is None and ending == "growing":
            return  # the next line may identify the dialect
        if self._parser is None:
            self._settle()
        if self._parser is not None:
            self._parser.receive_eof(ending)
        else:
            self._give_up_all()

    def _give_up_all(self) -> None:
        first = self._lines - len(self._held) + 1
        for number, line in enumerate(self._held, first):
            self._give_up(line, number)
        self._held = []

    def _settle(self) -> None:
        """No more lines will come: accept the dialect that the held lines are compatible with."""
        name = settle_dialect(self._held) if self._held else None
        dialect = find_dialect(name) if name else None
        if dialect is not None:
            self._begin(dialect)

    def messages(self) -> list[Message]:
        given_up, self._given_up = self._given_up, []
        return given_up + self._parser.messages() if self._parser else given_up

    def duplicates(self) -> list[Duplicate]:
        duplicates, self._duplicates = self._duplicates, []
        return duplicates + self._parser.duplicates() if self._parser else duplicates
