"""A request on a terminal without cursor control: line by line, in order.

Each step prints its prompt once; the line being typed follows below it.
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
        """Print what changed since the last call."""
        step = self._answering.step
        if step is not self._shown:
            if self._shown is None:
                self._view.write_rows(
                    [
                        *step.head(self._ink, self._view.width - 1),
                        f"No answer within {self._seconds:.0f} s counts as a denial.",
                    ]
                )
            else:
                self._view.typing(None)
                self._view.write_rows(step.head(self._ink, self._view.width - 1))
            self._shown = step
        self._view.typing(self._prompt(step) + (step.editor.seen if step.editor else ""))

    def end(self) -> None:
        """Finish the dialog after the request is settled."""
        self._view.typing(None)

    def _prompt(self, step: AnswerStep) -> str:
        return PROMPT if step.editor else f"[{'/'.join(step.keys)}] "
