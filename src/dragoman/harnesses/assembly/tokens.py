"""From running totals to what one turn has spent."""

from __future__ import annotations

from dragoman.model.usage import NOTHING, Usage


class Tally:
    """The tokens of one session, as far as they have been told.

    A turn's own tokens are the difference between two totals, taken when somebody asks. Only what
    a difference cannot tell (a counter that starts anew, a total that includes what was spent
    before we came) is added up on the way.
    """

    __slots__ = ("_carried", "_from", "total")

    def __init__(self) -> None:
        self.total: Usage | None = None
        """The newest running total, null before the first."""
        self._from: Usage | None = None
        """The total that this turn is counted from."""
        self._carried: Usage | None = None
        """What this turn has spent besides."""

    def starts(self) -> None:
        """Nothing was spent before now."""
        if self.total is None:
            self.total = self._from = NOTHING

    def start_at(self, total: Usage | None) -> None:
        """So much was spent before this turn."""
        self.total = self._from = total

    def count(self, total: Usage | None, last: Usage | None, *, old: bool) -> bool:
        """Take a report in; whether it says anything new.

        ``total`` is the session's running total, ``last`` the newest response's own tokens; either
        may be missing. ``old`` says that the report is about an earlier turn or an earlier process,
        which is how resumed sessions begin: it then only sets the mark to count from.
        """
        before = self.total
        if total is None:
            if last is None:
                return False
            total = last if before is None else before + last
        elif total == before:
            return False
        self.total = total
        if before is None:
            # We came in late: what was spent before us is in the total, but not in `last`.
            self._from = total
            if not old:
                self._carry(last if last is not None else total)
            return total != NOTHING
        if old:
            self._carry(before - (self._from or NOTHING))
            self._from = total
        elif not before.fits_in(total) or (total == last and before):
            # The counter was started anew, or set back to what an earlier turn had left.
            self._carry(before - (self._from or NOTHING))
            self._from = total - last if last is not None and last.fits_in(total) else NOTHING
        return True

    def record(self, total: Usage | None, own: Usage) -> None:
        """Take one response's own record in, whatever the totals say."""
        before = self.total
        if (
            before is not None
            and total is not None
            and total.input_tokens == before.input_tokens + own.input_tokens
            and total.output_tokens == before.output_tokens + own.output_tokens
        ):
            self.total = total  # it is what the totals say: the difference will tell
            return
        if self.total is not None and self._from is not None:
            self._carry(self.total - self._from)
        self._carry(own)
        self.total = self._from = total if total is not None else (self.total or NOTHING) + own

    def _carry(self, spent: Usage) -> None:
        if spent:
            self._carried = spent if self._carried is None else self._carried + spent

    def so_far(self) -> Usage | None:
        """What the turn has spent until now, null when nobody told."""
        if self.total is None or self._from is None or self.total == self._from:
            return self._carried
        spent = self.total - self._from
        return spent if self._carried is None else self._carried + spent

    def take_turn(self) -> Usage | None:
        """What the turn has spent, null when nobody told; the next turn starts at nothing."""
        if self.total is not None and self._from is not None:
            self._carry(self.total - self._from)
        self._from = self.total
        turn, self._carried = self._carried, None
        return turn
