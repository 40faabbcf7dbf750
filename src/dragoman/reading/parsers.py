"""Parsers for files: detect the dialect from the first lines, and record marks if the dialect supports them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from dragoman.harnesses import find_dialect, find_harness, harness_of, sniff_dialect
from dragoman.harnesses.contract.history import History
from dragoman.harnesses.contract.reading import Dialect, Mark, MarkingParser, Parser
from dragoman.model.messages import Message, Notice
from dragoman.model.usage import Usage
from dragoman.reading.sniffing import SniffingParser

_PATIENCE: Final = 64


class FileReader:
    """A parser, and what is known about the file it reads."""

    def __init__(self, dialect: Dialect | None, marking: MarkingParser | None = None) -> None:
        self.dialect = dialect.name if dialect else None
        known = harness_of(dialect.name) if dialect is not None else None
        self.harness = known.name if known is not None else None
        if marking is None and dialect is not None and dialect.mark is not None:
            marking = dialect.mark(only=None, audit=False)
        self._marking = marking
        self._parser: Parser | None = marking
        if marking is None and dialect is not None:
            self._parser = dialect.make_parser(only=None, audit=False)
        history = history_of(self.harness)
        self.turns_undone: Callable[[Notice], int] | None = (
            history.turns_undone if history else None
        )
        self.row_names = history.row_names if history else None
        self.keeps_copies = bool(dialect and dialect.resume)
        """Whether its files may contain rows copied from other sessions, which have files of their own."""

    @classmethod
    def sniffed(cls, lines: Sequence[bytes]) -> FileReader:
        """Return a reader for the dialect of these first lines; its dialect is None if none is recognized."""
        held: list[bytes] = []
        for line in lines[:_PATIENCE]:
            held.append(line)
            name = sniff_dialect(held)
            if name is not None:
                return cls(find_dialect(name))
        return cls(None)

    @classmethod
    def of(cls, dialect: str | None) -> FileReader:
        return cls(find_dialect(dialect) if dialect else None)

    @classmethod
    def unknown(cls) -> FileReader:
        """Return a reader that keeps every line, and still detects the dialect if a later line shows it."""
        reader = cls(None)
        reader._parser = SniffingParser()
        return reader

    @classmethod
    def resumed(cls, dialect: str | None, mark: Mark) -> FileReader:
        """Return a reader whose next line is the marked one. Raises msgspec's errors for an invalid mark."""
        found = find_dialect(dialect) if dialect else None
        if found is None or found.resume is None:
            raise TypeError(f"{dialect} has no marks")
        return cls(found, found.resume(mark, None, False))

    @property
    def parser(self) -> Parser:
        assert self._parser is not None  # callers check that a dialect was found
        return self._parser

    def messages(self) -> list[Message]:
        return self.parser.messages()

    def spent_so_far(self) -> tuple[str | None, Usage] | None:
        """The session whose turn is open and the tokens of that turn so far, if known."""
        return self._marking.spent_so_far() if self._marking is not None else None

    def marks(self) -> list[Mark]:
        return self._marking.marks() if self._marking is not None else []


def history_of(harness: str | None) -> History | None:
    found = find_harness(harness) if harness is not None else None
    return found.history if found is not None else None
