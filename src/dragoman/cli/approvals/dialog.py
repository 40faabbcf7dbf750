"""The state of one answer, from the first key to a decision. Independent of clock and terminal."""

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
        """Whether the user has pressed a key since the request appeared."""
        self.wants_all = False
        """Whether the user asked to see the request in full. Reset by the code that shows it."""
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
        """The rows below the request, ``most`` at most: choices, input, seconds left."""
        head = self.step.head(ink, width)
        if is_cut and self.step.editor is None:
            head += choices(ink, width, [(VIEW_ALL, "show all")])
        typed = self.step.editor.rows(ink, width) if self.step.editor else []
        count = [ink(clip(f"denied in {int(left) + 1} s", width), "dim")]
        room = most - len(typed) - len(count)
        if len(head) <= room:
            return [*head, *typed, *count]
        if isinstance(self.step, Menu):
            keys = " ".join(self.step.keys + VIEW_ALL * is_cut)
            rest = clip(f"  denied in {int(left) + 1} s", max(0, width - len(keys)))
            return [ink(keys, "yellow", "bold") + ink(rest, "dim")]
        # The last rows describe the input, so they stay next to it; earlier ones are cut.
        head = shortened(head, max(1, room), lambda hidden: ink(f"… {hidden} more rows", "dim"))
        return [*head, *typed, *count]
