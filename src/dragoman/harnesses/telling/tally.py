"""From running totals to what one turn has spent."""

from __future__ import annotations

from dragoman.model.usage import NOTHING, Usage


class Tally:
    """The tokens of one session, as far as they have been told."""

    __slots__ = ("_turn", "total")

    def __init__(self) -> None:
        self.total: Usage | None = None
        """The newest running total, null before the first."""
        self._turn: Usage | None = None

    def starts(self) -> None:
        """Nothing was spent before now."""
        if self.total is None:
            self.total = NOTHING

    def count(
        self, total: Usage | None, last: Usage | None, *, old: bool, exact: bool = False
    ) -> bool:
        """Take a report in; whether it says anything new.

        ``total`` is the session's running total, ``last`` the newest response's own tokens; either
        may be missing. ``old`` says that the report is about an earlier turn or an earlier process,
        which is how resumed sessions begin: it then only sets the mark to count from. ``exact``
        says that ``last`` is one response's own record, and always new.
        """
        before = self.total
        if total is None:
            if last is None:
                return False
            total = (before or NOTHING) + last
            spent = last
        elif exact and last is not None:
            spent = last
        elif total == before or (before is None and total == NOTHING):
            self.total = total
            return False
        elif before is None:
            # We came in late: what was spent before us is in the total, but not in `last`.
            spent = last if last is not None else total
        else:
            spent = total - before
        self.total = total
        if not old and spent:
            self._turn = spent if self._turn is None else self._turn + spent
        return True

    def take_turn(self) -> Usage | None:
        """What the turn has spent, null when nobody told; the next turn starts at nothing."""
        turn, self._turn = self._turn, None
        return turn
