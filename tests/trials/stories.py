"""A story and the cells that it fills."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from trial import Trial
from verdicts import Cells

Play: TypeAlias = Callable[[Trial, Cells], Awaitable[None]]
DRIVEN, ALONE = "driven by Dragoman", "run by itself"


@dataclass(frozen=True, kw_only=True)
class TrialStory:
    """One story: it is played once for each program, and fills these cells."""

    table: str
    cells: tuple[str, ...]
    play: Play
    compares: bool = True
    """Whether what was emitted live must be in the session's file: not if the agent was killed while it wrote."""


class TrialStories:
    """Collects the stories of one table."""

    def __init__(self, table: str) -> None:
        self.table = table
        self.all: list[TrialStory] = []

    def story(self, *cells: str, compares: bool = True) -> Callable[[Play], Play]:
        def add(play: Play) -> Play:
            self.all.append(TrialStory(table=self.table, cells=cells, play=play, compares=compares))
            return play

        return add
