"""Faults: which of them an attempt meets.

An agent repeats a request that failed, and the repetition looks the same. So faults are counted by
attempts at the same place: those that end an attempt take their turns in order, ``times`` each.
"""

from __future__ import annotations

from collections.abc import Iterable

from dragoman.rehearsal.script import Fault, Garbage, Step


class Attempt:
    """One attempt at a place, counted from 0."""

    def __init__(self, number: int) -> None:
        self.number = number

    def of(self, steps: Iterable[Step]) -> list[Step]:
        """The steps of this attempt, without the faults that are over or yet to come."""
        met: list[Step] = []
        first = 0  # the attempt that meets the next fault that ends one
        for step in steps:
            if not isinstance(step, Fault):
                met.append(step)
            elif isinstance(step, Garbage):
                if step.times is None or self.number < step.times:
                    met.append(step)
            else:
                last = None if step.times is None else first + step.times
                if self.number >= first and (last is None or self.number < last):
                    met.append(step)
                first = self.number + 1 if last is None else last
        return met
