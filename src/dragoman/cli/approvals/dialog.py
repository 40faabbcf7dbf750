"""How far the answer to a question has come. Knows neither the time nor the terminal."""

from __future__ import annotations

from dragoman.cli.approvals.layout import shortened
from dragoman.cli.approvals.steps import AnswerStep, Menu, by_person, choices, first_step
from dragoman.cli.live.cells import clip
from dragoman.cli.live.ink import Ink
from dragoman.cli.live.keys import Key
from dragoman.client.deciding import Decision
from dragoman.model.messages import ApprovalRequested

VIEW_ALL = "v"


class AnswerDialog:
    def __init__(self, request: ApprovalRequested) -> None:
        self.request = request
        self.step: AnswerStep = first_step(request)
        self.is_touched = False
        """Whether the person has begun to answer."""
        self.wants_all = False
        """Whether the person wants to see all of what was cut; whoever shows it sets it back."""
        self.decision: Decision | None = None

    def press(self, key: Key) -> None:
        self.is_touched = True
        editor = self.step.editor
        if key.name == "end-of-file" and not (editor and editor.text):
            self.decision = by_person("deny")
            return
        if editor is None and key.text == VIEW_ALL:
            self.wants_all = True
            return
        came = self.step.press(key)
        if isinstance(came, Decision):
            self.decision = came
        elif came is not None:
            self.step = came

    def rows(self, ink: Ink, width: int, most: int, left: float, *, is_cut: bool) -> list[str]:
        """What stands below the question, in at most so many rows: choices, input, seconds left."""
        head = self.step.head(ink, width)
        if is_cut and self.step.editor is None:
            head += choices(ink, width, [(VIEW_ALL, "show all of it")])
        typed = self.step.editor.rows(ink, width) if self.step.editor else []
        count = [ink(clip(f"{int(left) + 1} s, then no", width), "dim")]
        room = most - len(typed) - len(count)
        if len(head) <= room:
            return [*head, *typed, *count]
        if isinstance(self.step, Menu):
            keys = " ".join(self.step.keys + VIEW_ALL * is_cut)
            rest = clip(f"  {int(left) + 1} s, then no", max(0, width - len(keys)))
            return [ink(keys, "yellow", "bold") + ink(rest, "dim")]
        # What is asked for last stands nearest to the input.
        head = shortened(head, max(1, room), lambda hidden: ink(f"… {hidden} more rows", "dim"))
        return [*head, *typed, *count]
