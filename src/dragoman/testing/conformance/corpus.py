"""The recordings of a harness, read once and shared by all checks.

A recording is a file of lines as the program wrote them, compressed or not. Its name is free, except where a live
stream is to be compared with the session file of the same run::

    1.2.0/fix-the-test.live.jsonl     what the program printed (release, scenario, kind)
    1.2.0/fix-the-test.disk.jsonl     the session file that it left
    1.2.0/fix-the-test.disk2.jsonl    more of them, if there were sub-agents or forks

Parsers are made from the harness itself, so that it need not be registered yet.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from dragoman.harnesses import all_harnesses
from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.contract.reading import Dialect, Ending, Parser
from dragoman.model.messages import Message
from dragoman.reading.compression import Damage
from dragoman.reading.sources import batches
from dragoman.wire.lines import LongLine

_PATIENCE = 64
"""How many lines may pass before a stream is recognized; as many as reading waits for."""


@dataclass(eq=False)
class RecordedFile:
    """One recording."""

    path: Path
    name: str
    """Its path below the folder that was given."""
    harness: Harness

    def __str__(self) -> str:
        return self.name

    @cached_property
    def lines(self) -> list[bytes]:
        """The lines, each with its newline."""
        found: list[bytes] = []
        for line in (line for batch in batches(self.path) for line in batch):
            assert not isinstance(line, LongLine | Damage), f"{self.path} is damaged: {line}"
            found.append(line)
        return found

    @cached_property
    def dialect(self) -> Dialect | None:
        """The dialect that the harness recognizes."""
        name = recognized(self.harness, self.lines)
        return self.harness.dialect(name) if name else None

    @cached_property
    def messages(self) -> list[Message]:
        """All messages, as of a stream that has ended."""
        assert self.dialect is not None
        return read_as(self.dialect, self.lines)


class Corpus:
    """A harness and everything that a check needs to know about it."""

    def __init__(
        self,
        harness: Harness,
        recordings: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        *,
        leaves: Mapping[str, str],
        others: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
        mutations: int,
    ) -> None:
        self.harness = harness
        self.leaves = leaves
        self.mutations = mutations
        self._given = recordings
        self._others = others

    @cached_property
    def all(self) -> list[RecordedFile]:
        """Every recording, also those of no known dialect."""
        found = list(_recorded(self._given, self.harness))
        assert found, f"no recordings of {self.harness.name}: {self._given}"
        return found

    @property
    def recordings(self) -> Iterator[tuple[RecordedFile, Dialect]]:
        """The recordings whose dialect is known. A rule about sniffing reports the others."""
        for recorded in self.all:
            if recorded.dialect is not None:
                yield recorded, recorded.dialect

    @cached_property
    def others(self) -> list[RecordedFile]:
        """Recordings of other programs."""
        return list(_recorded(self._others, self.harness))

    @property
    def harnesses(self) -> Sequence[Harness]:
        """All harnesses that are registered, and this one."""
        return [each for each in all_harnesses() if each.name != self.harness.name] + [self.harness]


def _recorded(
    given: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], harness: Harness
) -> Iterator[RecordedFile]:
    roots = [given] if isinstance(given, str | os.PathLike) else list(given)
    for root in map(Path, roots):
        if root.is_file():
            yield RecordedFile(root, f"{root.parent.name}/{root.name}", harness)
            continue
        for path in sorted(root.rglob("*.jsonl*")):
            if path.is_file():
                yield RecordedFile(path, path.relative_to(root).as_posix(), harness)


def recognized(harness: Harness, lines: Sequence[bytes]) -> str | None:
    """Return the dialect that a harness recognizes in a whole stream."""
    for length in range(1, min(len(lines), _PATIENCE) + 1):
        if found := harness.sniff(lines[:length]):
            return found
    return harness.settle(lines) if harness.settle is not None else None


def read_as(
    dialect: Dialect,
    lines: Iterable[bytes],
    *,
    ending: Ending = "over",
    only: frozenset[str] | None = None,
) -> list[Message]:
    """Return the messages of a dialect's parser for these lines."""
    parser = dialect.make_parser(only=only, audit=False)
    parser.receive_lines(lines)
    return finished(parser, ending)


def finished(parser: Parser, ending: Ending = "over") -> list[Message]:
    """End a stream, and return the messages since the last ones were taken."""
    parser.receive_eof(ending)
    return parser.messages()
