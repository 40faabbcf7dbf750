"""Count each model response once, although every block of it repeats its usage.

A response is written as one line per content block. Live lines carry the usage as it was when the response
began, with one output token; the counts are final once its ``stop_reason`` is known.
"""

from __future__ import annotations

from typing import NamedTuple

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.model.usage import NOTHING, Usage


class _ModelRequest(NamedTuple):
    usage: Usage
    model: str | None


class Spending:
    """The responses of one session."""

    def __init__(self, assembler: SessionAssembler) -> None:
        self._assembler = assembler
        self.is_counted = True
        """Whether these responses are this file's own: a copy is counted where it was copied from."""
        self._counted: dict[str, Usage] = {}
        self._open: dict[str, _ModelRequest] = {}
        """Responses whose counts are not final yet."""
        self._in_turn = NOTHING
        self._parked: dict[str, tuple[dict[str, _ModelRequest], Usage]] = {}
        """Turns that are over, whose counts a result has yet to say."""

    def begin_turn(self) -> None:
        self._in_turn = NOTHING

    def see(
        self, response_id: str | None, usage: Usage | None, model: str | None, *, is_final: bool
    ) -> bool:
        """Take note of what a line says about a response's tokens; whether it is counted now."""
        if response_id is None or usage is None or not self.is_counted:
            return False
        if response_id in self._counted:
            return False
        if is_final:
            self._open.pop(response_id, None)
            self._count(response_id, usage, model)
            return bool(usage)
        if response_id not in self._open or self._open[response_id].usage.fits_in(usage):
            self._open[response_id] = _ModelRequest(usage, model)
        return False

    def settle(self) -> None:
        """No more is known of the open responses: count them as they were last seen."""
        opened, self._open = self._open, {}
        for response_id, (usage, model) in opened.items():
            self._count(response_id, usage, model)

    def settle_with(self, turn: Usage | None) -> None:
        """Count what the open turn has spent besides the responses whose own counts are known."""
        opened, self._open = self._open, {}
        self._settle(opened, self._in_turn, turn, late=False)

    def park(self, turn_id: str) -> None:
        """The open turn ends before its counts are known."""
        self._parked[turn_id] = (self._open, self._in_turn)
        self._open = {}

    def settle_parked(self, turn_id: str, turn: Usage | None) -> None:
        """Count what a turn has spent that ended before."""
        opened, counted = self._parked.pop(turn_id, ({}, NOTHING))
        self._settle(opened, counted, turn, late=True)

    def settle_all_parked(self) -> None:
        for turn_id in list(self._parked):
            self._assembler.attribute_to(turn_id)
            self.settle_parked(turn_id, None)
            self._assembler.attribute_to(None)

    def _settle(
        self, opened: dict[str, _ModelRequest], counted: Usage, turn: Usage | None, *, late: bool
    ) -> None:
        rest = turn - counted if turn and counted.fits_in(turn) else NOTHING
        if not rest:
            for response_id, (usage, model) in opened.items():
                self._count(response_id, usage, model, late=late)
            return
        # The result says what all of them took together.
        only = next(iter(opened)) if len(opened) == 1 else None
        model = next((each.model for each in opened.values()), None)
        for response_id in opened:
            self._counted[response_id] = NOTHING
        self._in_turn += NOTHING if late else rest
        self._assembler.usage(None, rest, old=late, response_id=only, model=model)

    def _count(
        self, response_id: str, usage: Usage, model: str | None, *, late: bool = False
    ) -> None:
        self._counted[response_id] = usage
        if not usage:
            return
        if not late:
            self._in_turn += usage
        self._assembler.usage(None, usage, old=late, response_id=response_id, model=model)
