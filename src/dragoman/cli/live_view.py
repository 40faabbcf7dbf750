"""The live view on a terminal: what is said scrolls up, what is going on stands below and moves.

Below stand, from top to bottom: the line that is being said, the calls that are open with the last
of their output, the plan with its ticks, a spinner with what goes on and for how long, and whatever
the front door puts at the very end: a question, or what the user is typing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TextIO

from dragoman.cli import live_status
from dragoman.cli.live_cells import tidy
from dragoman.cli.live_ink import Ink
from dragoman.cli.live_screen import Screen
from dragoman.cli.live_story import Session, Story, thinking
from dragoman.cli.live_words import Words
from dragoman.model.messages import Message

_MOST_WIDTH: Final = 120
_PARTIAL_ROWS: Final = 12
_THOUGHT_ROWS: Final = 4
_CARDS: Final = 4


class TerminalView:
    def __init__(self, out: TextIO, *, colour: bool, width: int, height: int = 24) -> None:
        self._ink = Ink(colour=colour)
        self._screen = Screen(out, width=width, height=height)
        self._story = Story(self._ink)
        self._now = 0.0
        self._footer: list[str] = []
        self._hint = ""

    @property
    def width(self) -> int:
        # One column is left free: a terminal wraps late, and some of them differently.
        return max(20, min(self._screen.width - 1, _MOST_WIDTH))

    def show(self, message: Message) -> None:
        self._story.take(message, self._now, self.width)
        self._paint()

    def tick(self, now: float) -> None:
        self._now = now
        self._paint()

    def resize(self, width: int, height: int) -> None:
        self._screen.resize(width, height)
        self._paint()

    def hint(self, words: str) -> None:
        self._hint = words

    def footer(self, rows: Sequence[str]) -> None:
        self._footer = list(rows)
        self._paint()

    def say(self, rows: Sequence[str]) -> None:
        self._story.say(rows)
        self._paint()

    def close(self) -> None:
        self._story.end(self.width)
        self._footer = []
        self._paint()

    def _paint(self) -> None:
        rows = self._live()
        self._screen.paint(
            self._story.drain(), [*rows, "", *self._footer] if self._footer else rows
        )

    def _live(self) -> list[str]:
        working = [each for each in self._story.sessions.values() if each.began is not None]
        if not working:
            return []
        rows = [row for session in working for row in self._session(session)]
        first = working[0]
        if first.plan is not None:
            rows += ["", *live_status.checklist(self._ink, self.width, first.plan.steps, None)]
        # The newest one that does something speaks for all.
        doing = next((each for each in reversed(working) if each.cards or each.asked), first)
        line = live_status.spinner(
            self._ink, self.width, self._now, _activity(doing), first.began, self._hint
        )
        return [*rows, "", line]

    def _session(self, session: Session) -> list[str]:
        rows: list[str] = []
        for message_id, line in session.partial.items():
            if line.strip():
                words = session.words.get(message_id) or Words(self._ink)
                rows += words.peek(tidy(line), self.width)[-_PARTIAL_ROWS:]
        if rows and not self._story.is_saying(session):
            rows.insert(0, "")
        if session.thought.strip():
            rows += ["", *thinking(session.thought, self._ink, self.width)[-_THOUGHT_ROWS:]]
        cards = [
            card
            for call_id, card in session.cards.items()
            if not card.is_plan and call_id not in session.asked
        ]
        lines = 6 if len(cards) == 1 else 2
        for card in cards[-_CARDS:]:
            rows += ["", *card.running(self.width, self._now, lines)]
        return rows


def _activity(session: Session) -> str:
    if session.asked:
        return "Waiting for you"
    cards = list(session.cards.values())
    if not cards:
        return session.activity
    more = f" and {len(cards) - 1} more" if len(cards) > 1 else ""
    return cards[-1].activity() + more
