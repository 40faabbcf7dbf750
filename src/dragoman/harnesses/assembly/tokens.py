"""Count the tokens of each turn, from a session's running totals and from single responses."""

from __future__ import annotations

from dragoman.model.usage import NOTHING, Usage


class TokenCounter:
    """The tokens of one session, as far as they are reported.

    A turn's own tokens are the difference between two running totals, taken when someone asks for it.
    Totals are repeated, skipped and corrected; differences survive all of that, while a sum of the
    reports would not. Only what a difference cannot show (a counter that restarts, a total that includes
    what was spent before the stream began) is summed up on the way.
    """

    __slots__ = ("_carried", "_from", "total")

    def __init__(self) -> None:
        self.total: Usage | None = None
        """The newest running total, null before the first."""
        self._from: Usage | None = None
        """The total that this turn is counted from."""
        self._carried: Usage | None = None
        """What this turn has spent in addition to ``total - _from``."""

    def start(self) -> None:
        """Nothing has been spent yet: the first total belongs to this session entirely."""
        if self.total is None:
            self.total = self._from = NOTHING

    def start_at(self, total: Usage | None) -> None:
        """This much was spent before this turn."""
        self.total = self._from = total

    def count(self, total: Usage | None, last: Usage | None, *, old: bool) -> bool:
        """Take in a report; whether it contains anything new.

        ``total`` is the session's running total, ``last`` the tokens of the newest response; either
        may be missing. ``old`` means that the report is about an earlier turn or an earlier process,
        which is how resumed sessions begin: it then only sets the total to count from.
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
            # The stream may begin in the middle of a session: the total includes what was spent before
            # it, `last` does not. So only `last` is this turn's for certain.
            self._from = total
            if not old:
                self._carry(last if last is not None else total)
            return total != NOTHING
        if old:
            self._carry(before - (self._from or NOTHING))
            self._from = total
        elif not before.fits_in(total) or (total == last and before):
            # The counter has restarted, or was set back to the total of an earlier turn (as after a
            # revert). A total that equals `last` is a restart even if it is the larger one. Keep what
            # the turn has spent so far, and count on from where the new total must have started.
            self._carry(before - (self._from or NOTHING))
            self._from = total - last if last is not None and last.fits_in(total) else NOTHING
        return True

    def record(self, total: Usage | None, own: Usage) -> None:
        """Take in the record of one response, which counts even if the totals do not agree with it."""
        before = self.total
        if (
            before is not None
            and total is not None
            and total.input_tokens == before.input_tokens + own.input_tokens
            and total.output_tokens == before.output_tokens + own.output_tokens
        ):
            # The totals agree, so the difference will include it. Comparing the two main counts is
            # enough, and cheap: this is the case for nearly every record of a long file.
            self.total = total
            return
        if self.total is not None and self._from is not None:
            self._carry(self.total - self._from)
        self._carry(own)
        self.total = self._from = total if total is not None else (self.total or NOTHING) + own

    def _carry(self, spent: Usage) -> None:
        if spent:
            self._carried = spent if self._carried is None else self._carried + spent

    def so_far(self) -> Usage | None:
        """What the turn has spent so far, null if nothing was reported."""
        if self.total is None or self._from is None or self.total == self._from:
            return self._carried
        spent = self.total - self._from
        return spent if self._carried is None else self._carried + spent

    def take_turn(self) -> Usage | None:
        """What the turn has spent, null if nothing was reported; the next turn starts at zero."""
        if self.total is not None and self._from is not None:
            self._carry(self.total - self._from)
        self._from = self.total
        turn, self._carried = self._carried, None
        return turn
