"""What came of the stories: a mark for each cell, and the sentence that goes with it."""

from __future__ import annotations

import traceback
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from limitations import LIMITATIONS

PASSED, LIMITED, FAILED = "✓", "·", "✗"
_HERE = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """One cell of a table."""

    subject: str
    table: str
    cell: str
    mark: str
    reason: str = ""
    """Why it failed, or what the program cannot do."""


@dataclass
class Board:
    """All cells so far, and how many sessions say the same live and on disk."""

    verdicts: dict[tuple[str, str, str], Verdict] = field(
        default_factory=dict[tuple[str, str, str], Verdict]
    )
    releases: dict[str, str] = field(default_factory=dict[str, str])
    alike: dict[tuple[str, str], list[list[str]]] = field(
        default_factory=dict[tuple[str, str], list[list[str]]]
    )

    def compared(self, subject: str, table: str, differences: list[str]) -> None:
        """A session was read from its file and compared."""
        self.alike.setdefault((subject, table), []).append(differences)

    def add(self, subject: str, table: str, cell: str, problem: BaseException | None) -> Verdict:
        """What came of a cell. A limitation that is none any more is a mistake as well."""
        limit = LIMITATIONS.get((subject, table, cell))
        if problem is None:
            mark = FAILED if limit else PASSED
            reason = f"it works, though a limitation says: {limit}" if limit else ""
        else:
            mark, reason = (LIMITED, limit) if limit else (FAILED, sentence(problem))
        verdict = Verdict(subject=subject, table=table, cell=cell, mark=mark, reason=reason)
        self.verdicts[subject, table, cell] = verdict
        return verdict

    def merge(self, other: Board) -> None:
        """Take in what another process has found."""
        self.verdicts |= other.verdicts
        self.alike |= other.alike

    @property
    def bad(self) -> list[Verdict]:
        """The cells that are not as they should be."""
        return [each for each in self.verdicts.values() if each.mark == FAILED]

    @property
    def unlike(self) -> list[str]:
        """What sessions say otherwise on disk."""
        return [
            f"{subject}, {table}: {text}"
            for (subject, table), sessions in self.alike.items()
            for found in sessions
            for text in found
        ]


class Cells:
    """The cells that one story fills."""

    def __init__(self, board: Board, subject: str, table: str, names: tuple[str, ...]) -> None:
        self._board = board
        self._about = subject, table
        self._open = dict.fromkeys(names)

    @contextmanager
    def cell(self, name: str) -> Generator[None]:
        """Fill a cell with what comes of this block; a failure is no reason to stop the story."""
        problem: BaseException | None = None
        try:
            yield
        except Exception as raised:
            problem = raised
        self._fill(name, problem)

    def finish(self, problem: BaseException | None) -> None:
        """Fill what is still open: the story has ended before it came there."""
        for name in [*self._open]:
            self._fill(name, problem or AssertionError("the story never came to this"))

    def _fill(self, name: str, problem: BaseException | None) -> None:
        self._open.pop(name, None)
        verdict = self._board.add(*self._about, name, problem)
        subject, table = self._about
        more = f": {verdict.reason[:1500]}" if verdict.reason else ""
        print(f"{verdict.mark} {subject:>16} {table}: {name}{more}", flush=True)


def sentence(problem: BaseException) -> str:
    """A failure in one line, with the place in the story."""
    while isinstance(problem, BaseExceptionGroup):
        problem = cast("BaseExceptionGroup[BaseException]", problem).exceptions[0]
    places = traceback.extract_tb(problem.__traceback__)
    ours = [place for place in places if Path(place.filename).parent == _HERE]
    where = f" ({Path(ours[-1].filename).name}:{ours[-1].lineno}: {ours[-1].line})" if ours else ""
    return f"{type(problem).__name__}: {problem}{where}"
