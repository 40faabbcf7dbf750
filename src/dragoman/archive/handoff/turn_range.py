"""Which turns of a session to hand off: ``3``, ``3..``, ``..5``, ``2..4``, ``-2..``."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from dragoman.errors import UsageError

_RANGE: Final = re.compile(
    r"\s*(?:(?P<only>-?\d{1,9})|(?P<first>-?\d{1,9})?\s*\.\.\s*(?P<last>-?\d{1,9})?)\s*\Z"
)


class TurnRange(NamedTuple):
    """The first and the last turn, counted from 1, or from the end if negative. None: no limit."""

    first: int | None
    last: int | None

    @classmethod
    def parse(cls, text: str) -> TurnRange:
        """Read a range. Raises :class:`UsageError`."""
        found = _RANGE.match(text)
        only, first, last = map(_number, found.groups()) if found is not None else (0, 0, 0)
        if 0 in (only, first, last) or only is first is last is None:
            raise UsageError(f"not a range of turns: {text!r} (use 3, 3.., ..5, 2..4 or -2..)")
        return cls(only, only) if only is not None else cls(first, last)

    def holds(self, number: int, count: int) -> bool:
        """Whether this is one of the turns, of as many as there are."""
        first = _from_start(self.first, count)
        last = _from_start(self.last, count)
        return (first is None or number >= first) and (last is None or number <= last)


def _number(text: str | None) -> int | None:
    return int(text) if text is not None else None


def _from_start(number: int | None, count: int) -> int | None:
    return count + 1 + number if number is not None and number < 0 else number
