"""The turns of a session: which one is open, which have ended, and how the open one will end."""

from __future__ import annotations

from collections.abc import Callable

from dragoman.harnesses.assembly.output import SessionOutput
from dragoman.harnesses.assembly.reviews import ReviewState
from dragoman.model.messages import Notice, Outcome, TurnError, TurnStarted


class TurnLifecycle:
    """The turns of one session, one after the other."""

    __slots__ = (
        "_ended",
        "_out",
        "before_turn",
        "count",
        "error",
        "has_text",
        "is_late",
        "open_turn",
        "review",
        "says_ends",
        "text_was_last",
    )

    def __init__(self, out: SessionOutput) -> None:
        self._out = out
        self.review = ReviewState()
        self.before_turn: Callable[[], None] | None = None
        """Called between two turns: the one before has ended and the next has not started."""
        self.open_turn: str | None = None
        """The turn that is under way."""
        self.count = 0
        self.is_late = False
        """Whether the line being read is about a turn that has ended."""
        self.says_ends = True
        """Whether the dialect reports the ends of turns. If it does, a turn without one was cut off;
        if not, it was cut off only when the agent did not have the last word."""
        self.text_was_last = False
        """Whether the newest content is a text of the agent."""
        self.has_text = False
        self.error: TurnError | None = None
        """Why the open turn is going to fail."""
        self._ended: dict[str, bool] = {}
        """The turns that are over, in order, and whether each was undone later."""

    def begin(self, turn_id: str | None) -> None:
        """Open a turn. Turns without an id are numbered."""
        if self.before_turn is not None:
            self.before_turn()
        self.count += 1
        self.open_turn = turn_id if turn_id is not None else f"turn-{self.count}"
        self._ended.pop(self.open_turn, None)  # old servers restart their numbering
        self.text_was_last = self.has_text = False
        self.error = None
        self._out.turn_id = self.open_turn
        self._out.emit(TurnStarted)
        self.emit_review()

    def ensure(self) -> None:
        """Content outside a turn opens one, unless it is about a turn that has ended."""
        if self.open_turn is None and not self.is_late:
            self.begin(None)

    def emit_review(self) -> None:
        """Emit that a review began, under the line that reported it: its turn may begin after that."""
        notice = self.review.take_notice()
        if notice is not None:
            stream = self._out.stream
            now = (stream.line, stream.at)
            stream.line, stream.at = notice.line, notice.at
            self._out.emit(Notice, level="info", text=notice.text)
            stream.line, stream.at = now

    def end(self) -> None:
        if self.open_turn is not None:
            self._ended[self.open_turn] = False
        self.open_turn = self.error = self._out.turn_id = None
        self.review.end_turn()

    def has_ended(self, turn_id: str) -> bool:
        return turn_id in self._ended

    def is_other(self, turn_id: str | None) -> bool:
        """Whether this names a turn other than the open one."""
        return turn_id is not None and turn_id != self.open_turn

    def attribute_to(self, turn_id: str | None) -> None:
        """What follows is about this turn. If it has ended, messages carry it; otherwise the open one.

        A line may report about a turn after its end, such as the late result of a call. That must not
        open the turn again, and must not count as content of the turn under way.
        """
        self.is_late = turn_id is not None and turn_id in self._ended
        self._out.turn_id = turn_id if self.is_late else self.open_turn

    def outcome_unsaid(self, *, calls_open: bool) -> Outcome | None:
        """How the open turn ended, judged by its content; None if nothing shows that it did."""
        finished = not self.says_ends and self.text_was_last and not calls_open
        return "completed" if finished or self.error else None

    def add_error(self, error: TurnError) -> TurnError | None:
        """Remember why the turn is going to fail.

        The same failure is often reported twice, once with a native code and once with details: those
        are merged. Returns an error remembered before that is about something else.
        """
        before, self.error = self.error, error
        if before is None or before == error:
            return None
        if before.message != error.message:
            return before
        if error.native is None and before.native is not None:
            self.error = before if error.details is None else _with_details(before, error.details)
        elif error.details is None:
            self.error = _with_details(error, before.details)
        return None

    def undo_from(self, turn_id: str) -> int:
        """Mark this turn and the later ones as undone; how many were not undone before.

        Turns that are undone have ended all the same: late lines may still name them.
        """
        if turn_id not in self._ended:
            return 0
        names = list(self._ended)
        undone = [name for name in names[names.index(turn_id) :] if not self._ended[name]]
        self._ended.update(dict.fromkeys(undone, True))
        return len(undone)

    def recent(self, most: int) -> list[str]:
        """The turns that ended last, oldest first."""
        return list(self._ended)[-most:]

    def restore(self, count: int, ended: list[str]) -> None:
        self.count = count
        self._ended = dict.fromkeys(ended, False)


def _with_details(error: TurnError, details: str | None) -> TurnError:
    return TurnError(error.kind, error.message, error.retryable, error.native, details)
