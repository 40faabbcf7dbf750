"""What a turn of a recording is when it is played: lines, one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from dragoman.harnesses.contract.playback import TimedMessage
from dragoman.model.messages import TurnEnded

Line: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """A line to print, so many seconds after the step before."""

    after: float
    line: Line
    asks: bool = False
    """Whether the turn waits until the host has answered."""
    joins: bool = False
    """Whether what is queued joins the turn here: after a tool result."""
    ends: bool = False


class StepWriter(Protocol):
    """Writes the turns of a recording as an agent prints them."""

    def write(self, cues: Iterable[TimedMessage], /) -> list[Step]:
        """The steps of one turn."""
        ...

    def init(self) -> Line:
        """The line with which a turn begins."""
        ...

    def interruption(self) -> list[Line]:
        """What is printed before the result of a turn that was interrupted."""
        ...

    def result(self, ended: TurnEnded, text: str, number: int) -> Line:
        """The result of a turn that did not come to its recorded end."""
        ...
