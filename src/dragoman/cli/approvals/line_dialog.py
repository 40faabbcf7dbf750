"""A question on a terminal whose cursor must not be moved: line by line, in the order it happens.

What a step asks for is printed once; below it is the line that is being typed.
"""

from __future__ import annotations

from dragoman.cli.approvals.dialog import AnswerDialog
from dragoman.cli.approvals.steps import AnswerStep
from dragoman.cli.live.editor import PROMPT
from dragoman.cli.live.ink import Ink
from dragoman.cli.live.live import LiveView


class LineDialog:
    def __init__(self, view: LiveView, answering: AnswerDialog, seconds: float) -> None:
        self._view = view
        self._answering = answering
        self._seconds = seconds
        self._ink = Ink(colour=view.colour)
        self._shown: AnswerStep | None = None

    def go_on(self) -> None:
        """Print what is new since the last time."""
        step = self._answering.step
        if step is not self._shown:
            if self._shown is None:
                self._view.say(
                    [
                        *step.head(self._ink, self._view.width - 1),
                        f"No answer in {self._seconds:.0f} s counts as no.",
                    ]
                )
            else:
                self._view.typing(None)
                self._view.say(step.head(self._ink, self._view.width - 1))
            self._shown = step
        self._view.typing(self._prompt(step) + (step.editor.seen if step.editor else ""))

    def end(self) -> None:
        """The question is settled."""
        self._view.typing(None)

    def _prompt(self, step: AnswerStep) -> str:
        return PROMPT if step.editor else f"[{'/'.join(step.keys)}] "
