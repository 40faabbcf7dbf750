"""Check a rollout: unreadable rows, their order and numbers, turns without an end.

Numbers: in paginated files every row has an ``ordinal``, one more than the row before; a fork that
refers to its parent continues the parent's. Turns: since 0.100 each starts and ends with a row of its
own, except a reviewer's, which starts inside another turn and has no end.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from dragoman.harnesses.codex.home.history import origin_in
from dragoman.harnesses.codex.rollout.rows import (
    STARTS,
    RowHead,
    moment,
    payload_of,
    read_row,
    turn_event,
)
from dragoman.harnesses.codex.values.loose import as_dict, as_int, as_str
from dragoman.harnesses.contract.care import Fault, Repairer
from dragoman.harnesses.contract.checking import LineChecker

_TOLERANCE: Final = timedelta(seconds=1)


@dataclass(slots=True)
class OpenTurn:
    """A turn whose end has not been seen."""

    turn_id: str
    line: int
    started: dict[str, Any]
    """The content of its first row."""
    ends_before: int | None = None
    """The line that starts the next turn."""


class RolloutChecker(LineChecker[RowHead]):
    """One rollout, row by row."""

    def __init__(self) -> None:
        super().__init__()
        self.first_ordinal: int | None = None
        self.begins_at: int | None = None
        """The ordinal of the first row, if its header has one."""
        self.late_header: bytes | None = None
        """The session's header, if it is not the first row."""
        self.is_paginated = False
        self.is_rollout = False
        self.has_header = False
        self.open_turns: dict[str, OpenTurn] = {}
        self.known: dict[str, str] = {}
        """What rows contain that a missing header would have contained."""
        self._rows = 0
        self._before = b""
        self._expected: int | None = None
        self._time: datetime | None = None

    def _read(self, line: bytes) -> RowHead | None:
        return read_row(line)

    def _check(self, line: bytes, row: RowHead) -> None:
        self._rows += 1
        is_repeated = self._before == line.rstrip(b"\r\n")
        self._before = line.rstrip(b"\r\n")
        if is_repeated and self.is_rollout:  # flat files repeat their states, legacy ones reviews
            self._note("repeated", "the same row as the line before", broken=self.is_paginated)
            if self.is_paginated:
                return
        if self._rows == 1:
            self._first(line, row)
        if row.is_header and self._rows > 1:
            self._header(line, row)
        if self.is_rollout:
            self._ordered(row)
            event = turn_event(line, row)
            if event is not None:
                self._turn(event)
            if not self.has_header:
                self._learn(row)

    def _check_end(self) -> None:
        for turn in self.open_turns.values():
            after = turn.ends_before
            where = f"line {after} starts the next" if after else "the file ends"
            what = f"turn {turn.turn_id} has no end: {where}"
            self._faults.append(Fault(turn.line, "turn", what, is_at_end=after is None))

    def repairer(self, named_id: str | None) -> Repairer:
        from dragoman.harnesses.codex.care.repairing import RolloutRepairer

        return RolloutRepairer(self, named_id)

    def _first(self, line: bytes, row: RowHead) -> None:
        self.is_rollout = isinstance(row.type, str) and bytes(row.payload) != b""
        if row.is_header:
            self._header(line, row)
        elif row.is_flat_header:
            self.session_id, self.has_header = as_str(row.id), True
        elif self.is_rollout:
            self.is_paginated = row.ordinal is not None
            self._note("header", "the first row is not the session's header")

    def _header(self, line: bytes, row: RowHead) -> None:
        if self.has_header:
            return
        self.has_header = self.is_rollout = True
        origin, meta = origin_in(line), payload_of(row)
        self.session_id = origin.session_id if origin else as_str(meta.get("id"))
        self.is_paginated = meta.get("history_mode") == "paginated" or row.ordinal is not None
        base = origin.base if origin else None
        if self._rows == 1:
            self._expected = self.begins_at = base.end_ordinal or 0 if base else 0
        else:
            self.late_header = line.rstrip(b"\r\n")

    def _learn(self, row: RowHead) -> None:
        payload = payload_of(row)
        settings = as_dict(payload.get("thread_settings"))
        found = {
            "cwd": as_str(payload.get("cwd")) if row.type == "turn_context" else None,
            "model_provider": as_str(settings.get("model_provider_id")),
        }
        self.known |= {name: value for name, value in found.items() if value}

    def _ordered(self, row: RowHead) -> None:
        now = moment(row)
        if now is not None:
            if self._time is not None and _is_before(now, self._time):
                self._note("time", "earlier than the row before", broken=False)
            self._time = now
        if not self.is_paginated:
            return
        ordinal = as_int(row.ordinal)
        if ordinal is None:
            self._note("ordinal", "the row has no ordinal")
            self._expected = self._expected + 1 if self._expected is not None else None
            return
        if self.first_ordinal is None:
            self.first_ordinal = ordinal
        if self._expected is not None and ordinal != self._expected:
            self._note("ordinal", f"ordinal {ordinal} instead of {self._expected}")
        self._expected = ordinal + 1
        self.last_ordinal = max(ordinal, self.last_ordinal or 0)

    def _turn(self, event: dict[str, Any]) -> None:
        turn_id = as_str(event.get("turn_id"))
        if turn_id is None:
            return
        if event["type"] in STARTS:
            for turn in self.open_turns.values():
                turn.ends_before = turn.ends_before or self._number
            if not self._is_copied(turn_id):
                self.open_turns[turn_id] = OpenTurn(turn_id, self._number, event)
        elif turn_id in self.open_turns:
            started = self.open_turns.pop(turn_id).line
            self.open_turns = {
                name: turn for name, turn in self.open_turns.items() if turn.line < started
            }
        else:  # a review, whose own turn has no start: the reviewer's turn ends with it
            self.open_turns = {
                name: turn for name, turn in self.open_turns.items() if name < turn_id
            }

    def _is_copied(self, turn_id: str) -> bool:
        """Whether the turn is older than the session, so its rows were copied from another one."""
        own = self.session_id or ""
        timed = len(own) == len(turn_id) == 36 and own[14] == turn_id[14] == "7"
        return timed and turn_id < own


def _is_before(one: datetime, other: datetime) -> bool:
    try:
        return one < other - _TOLERANCE
    except (TypeError, OverflowError):  # one has no time zone, or is the earliest time there is
        return False
