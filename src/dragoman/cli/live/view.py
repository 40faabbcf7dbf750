"""The live view with cursor control: finished rows scroll up, rows in progress are repainted below.

The repainted rows are, from top to bottom: the incomplete text line, the open calls with their last
output, the plan, the spinner, and at the end the request or the user's input. That end always stays
on the screen; the other rows share what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from dragoman.cli.approvals.layout import QuestionRows
from dragoman.cli.live import approvals, status
from dragoman.cli.live.cells import broken, tidy
from dragoman.cli.live.ink import Ink
from dragoman.cli.live.markdown import MarkdownRows
from dragoman.cli.live.out import Out
from dragoman.cli.live.screen import Screen
from dragoman.cli.live.transcript import LiveTranscript, SessionProgress, thinking
from dragoman.model.messages import ApprovalRequested, Message

_MOST_WIDTH: Final = 120
_PARTIAL_ROWS: Final = 12
_THOUGHT_ROWS: Final = 4
_CARDS: Final = 4
_LEAST_OF_A_QUESTION: Final = 6
"""Rows that the choices leave for the request, if possible."""


class TerminalView:
    def __init__(self, out: Out, *, colour: bool, width: int, height: int = 24) -> None:
        self._ink = Ink(colour=colour)
        self._screen = Screen(out, width=width, height=height)
        self._transcript = LiveTranscript(self._ink)
        self._now = 0.0
        self._footer: Callable[[int], list[str]] | None = None
        self._asking: ApprovalRequested | None = None
        self._below: Callable[[int, int, bool], list[str]] | None = None
        self._measured: tuple[ApprovalRequested, int, str | None, QuestionRows] | None = None
        """Cached rows of the last request: it is painted often, and can be long."""
        self._hint = ""

    @property
    def width(self) -> int:
        # One column stays free, because terminals differ in when they wrap.
        return max(20, min(self._screen.width - 1, _MOST_WIDTH))

    def show(self, message: Message) -> None:
        self._transcript.add(message, self._now, self.width)
        self._paint()

    def tick(self, now: float) -> None:
        self._now = now
        self._paint()

    def resize(self, width: int, height: int) -> None:
        self._screen.resize(width, height)
        self._paint()

    def hint(self, words: str) -> None:
        self._hint = words

    def footer(self, foot: Callable[[int], list[str]] | None) -> None:
        self._footer = foot
        self._paint()

    def ask(
        self,
        request: ApprovalRequested | None,
        below: Callable[[int, int, bool], list[str]] | None,
    ) -> None:
        self._asking, self._below = request, below
        self._paint()

    def show_all(self, request: ApprovalRequested) -> None:
        self._transcript.write_rows(self._question(request).whole())
        self._paint()

    def typing(self, line: str | None) -> None:
        pass  # the footer shows the input

    def entered(self, text: str) -> None:
        pass  # the footer removes it

    def write_rows(self, rows: Sequence[str]) -> None:
        self._transcript.write_rows(rows)
        self._paint()

    def close(self) -> None:
        self._transcript.end(self.width)
        self._footer = self._asking = self._below = None
        self._paint()

    def _paint(self) -> None:
        most = self._screen.most_rows
        end = self._end(most)
        live = [piece for row in self._live() for piece in broken(row, self._screen.width)]
        if end:
            room = most - len(end) - 1
            live = [*live[-room:], "", *end] if room > 0 else end
        self._screen.paint(self._transcript.drain(), live)

    def _end(self, most: int) -> list[str]:
        """The rows that must be visible: the request, or the input."""
        asked = self._asking or self._transcript.open_question()
        if asked is None:
            rows = self._footer(self.width) if self._footer else []
        elif self._below is None:
            foot = self._footer(self.width) if self._footer else []
            rows, _ = self._fitted(asked, most - len(foot))
            rows += foot
        else:
            room = max(1, most - _LEAST_OF_A_QUESTION)
            below = self._below(self.width, room, False)
            rows, is_cut = self._fitted(asked, most - len(below) - 1)
            if is_cut:
                below = self._below(self.width, room, True)
                rows, _ = self._fitted(asked, most - len(below) - 1)
            rows = [*rows, "", *below]
        return [piece for row in rows for piece in broken(row, self._screen.width)]

    def _fitted(self, asked: ApprovalRequested, room: int) -> tuple[list[str], bool]:
        return self._question(asked).fitted(
            room, lambda count: approvals.left_out(count, self._ink)
        )

    def _question(self, asked: ApprovalRequested) -> QuestionRows:
        root = self._transcript.root_of(asked)
        if self._measured is None or self._measured[:3] != (asked, self.width, root):
            rows = approvals.asked_rows(asked, self._ink, self.width, root)
            self._measured = (asked, self.width, root, rows)
        return self._measured[3]

    def _live(self) -> list[str]:
        working = [each for each in self._transcript.sessions.values() if each.began is not None]
        if not working:
            return []
        rows = [row for session in working for row in self._session(session)]
        first = working[0]
        if first.plan is not None:
            rows += ["", *status.checklist(self._ink, self.width, first.plan.steps, None)]
        # The spinner shows the most recent session that is active.
        doing = next((each for each in reversed(working) if each.cards or each.asked), first)
        line = status.spinner(
            self._ink, self.width, self._now, _activity(doing), first.began, self._hint
        )
        return [*rows, "", line]

    def _session(self, session: SessionProgress) -> list[str]:
        rows: list[str] = []
        for message_id, line in session.partial.items():
            if line.strip():
                words = session.words.get(message_id) or MarkdownRows(self._ink)
                rows += words.peek(tidy(line), self.width)[-_PARTIAL_ROWS:]
        if rows and not self._transcript.is_streaming(session):
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


def _activity(session: SessionProgress) -> str:
    if session.asked:
        return "Waiting for you"
    cards = list(session.cards.values())
    if not cards:
        return session.activity
    more = f" and {len(cards) - 1} more" if len(cards) > 1 else ""
    return cards[-1].activity() + more
