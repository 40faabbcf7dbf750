"""A review: a turn in which another agent works, and reports through the one that asked for it."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple


class ReviewNotice(NamedTuple):
    """A notice about a review, and the line that reported it."""

    text: str
    line: int
    at: datetime | None


class ReviewState:
    """Whether a review is under way, and what is still to be emitted about it."""

    __slots__ = ("_notice", "_reviewer_has_turn", "is_open")

    def __init__(self) -> None:
        self.is_open = False
        self._reviewer_has_turn = False
        self._notice: ReviewNotice | None = None

    def begin(self, what: str, line: int, at: datetime | None) -> None:
        self.is_open = True
        text = f"review of {what} began" if what else "review began"
        self._notice = ReviewNotice(text, line, at)

    def takes_turn(self) -> bool:
        """Whether a turn that begins now is the reviewer's own, which is part of the open one."""
        if not self.is_open or self._reviewer_has_turn:
            return False
        self._reviewer_has_turn = True
        return True

    def take_notice(self) -> ReviewNotice | None:
        """The notice that the review began, once. It waits for the review's turn to begin."""
        notice, self._notice = self._notice, None
        return notice

    def end_turn(self) -> None:
        self.is_open = self._reviewer_has_turn = False
