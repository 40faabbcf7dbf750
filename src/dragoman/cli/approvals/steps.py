"""The steps of an answer: a menu, a reason, the questions in turn.

A step has rows to show above the input, an editor if text is typed (otherwise a single key decides),
and handles keys. A key yields a decision, another step, or nothing. Steps are immutable: what comes
next is a new step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias, cast

from dragoman.cli.approvals.questions import Asked, questions
from dragoman.cli.live.cells import cells, hung, tidy, wrap
from dragoman.cli.live.editor import Editor
from dragoman.cli.live.ink import Ink
from dragoman.cli.live.keys import Key
from dragoman.client.deciding import Decision
from dragoman.model.messages import ApprovalRequested

_KEYS: Final[dict[str, tuple[str, str]]] = {
    "y": ("allow", "yes"),
    "a": ("allow_for_session", "yes, for this session"),
    "p": ("allow_always", "yes, from now on"),
    "n": ("deny", "no"),
    "w": ("deny", "no, and say why"),
    "c": ("cancel", "no, and stop"),
}
_GAP: Final = "   "


class AnswerStep(Protocol):
    @property
    def editor(self) -> Editor | None: ...
    @property
    def keys(self) -> str:
        """The valid keys, if a single key decides."""
        ...

    def head(self, ink: Ink, width: int) -> list[str]:
        """The rows above the input."""
        ...

    def press(self, key: Key) -> Came: ...


Came: TypeAlias = Decision | AnswerStep | None
"""The result of a key."""


def by_person(word: str, **given: Any) -> Decision:
    return Decision(word=cast("Any", word), by="person", **given)


def first_step(request: ApprovalRequested) -> AnswerStep:
    """The first step of the answer to this request."""
    if request.kind == "question":
        return answer(questions(request))
    return Menu(request)


def choices(ink: Ink, width: int, offered: Sequence[tuple[str, str]]) -> list[str]:
    """Keys and their meanings, side by side if they fit."""
    rows: list[str] = []
    taken = 0
    for key, words in offered:
        # A choice that is too long for a row wraps like any other text.
        first, *rest = wrap(words, width - 2)
        entry = f"{ink(key, 'yellow', 'bold')} {first}"
        wide = cells(key) + 1 + cells(first)
        if rows and not rest and taken + len(_GAP) + wide <= width:
            rows[-1] += _GAP + entry
            taken += len(_GAP) + wide
        else:
            rows += [entry, *(f"  {row}" for row in rest)]
            taken = wide if not rest else width
    return rows


@dataclass(frozen=True, slots=True)
class Menu:
    """A choice by a single key."""

    request: ApprovalRequested
    editor: None = None

    @property
    def keys(self) -> str:
        return "".join(self._offered())

    def head(self, ink: Ink, width: int) -> list[str]:
        return choices(ink, width, [(key, words) for key, (_, words) in self._offered().items()])

    def press(self, key: Key) -> Came:
        choice = self._offered().get(key.text) if key.name == "text" else None
        if choice is None:
            return None
        if key.text == "w":
            return Reason(self)
        if key.text == "y" and self._has_form:
            from dragoman.cli.approvals.form import fill_in

            return fill_in(self.request.form or {}, self)
        return by_person(choice[0])

    @property
    def _has_form(self) -> bool:
        return self.request.kind == "elicitation" and self.request.form is not None

    def _offered(self) -> dict[str, tuple[str, str]]:
        offered = self.request.choices or ["allow", "deny", "cancel"]
        found = {key: each for key, each in _KEYS.items() if each[0] in offered}
        if "y" in found and self._has_form:
            found["y"] = ("allow", "fill in the form")
        elif "y" in found and self.request.url is not None:
            found["y"] = ("allow", "done, continue")
        return found


@dataclass(frozen=True, slots=True)
class Reason:
    """A denial with a message to the agent."""

    back: AnswerStep
    editor: Editor = field(default_factory=Editor)
    keys: str = ""

    def head(self, ink: Ink, width: int) -> list[str]:
        words = "What should the agent know or do instead? (Esc: back)"
        return [ink(row, "dim") for row in wrap(words, width)]

    def press(self, key: Key) -> Came:
        if key.name == "escape":
            return self.back
        entry = self.editor.press(key)
        return by_person("deny", message=entry.strip() or None) if entry is not None else None


@dataclass(frozen=True, slots=True)
class QuestionStep:
    """The questions of an agent, each answered by number or in the user's own words."""

    asked: list[Asked]
    editor: Editor
    at: int = 0
    """The index of the current question."""
    given: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    keys: str = ""

    def head(self, ink: Ink, width: int) -> list[str]:
        now = self.asked[self.at]
        rows: list[str] = []
        if len(self.asked) > 1:
            place = f"{self.at + 1} of {len(self.asked)}: "
            lines = wrap(place + " ".join(tidy(now.text).split()), width)
            rows += [ink(row, "bold") for row in lines]
        for number, each in enumerate(now.suggested, 1):
            rows += hung(f"{number:>2} ", each.label, width)
            rows += [ink(row, "dim") for row in hung("   ", each.description, width)]
        how = "A number, or your own words" if now.suggested else "Your answer"
        return rows + [ink(row, "dim") for row in wrap(f"{how} (Esc: no answer)", width)]

    def press(self, key: Key) -> Came:
        if key.name == "escape":
            return Leave(self)
        entry = (self.editor.press(key) or "").strip()
        if not entry:
            return None
        now = self.asked[self.at]
        number = int(entry) if entry.isdecimal() and len(entry) < 4 else 0
        if 0 < number <= len(now.suggested):
            entry = now.suggested[number - 1].label
        given = {**self.given, now.name: [entry]}
        if self.at + 1 == len(self.asked):
            return by_person("answered", answers=given)
        return answer(self.asked, self.at + 1, given)


def answer(
    asked: list[Asked], at: int = 0, given: dict[str, list[str]] | None = None
) -> QuestionStep:
    """The step for the question at this index."""
    return QuestionStep(asked, Editor(secret=asked[at].is_secret), at, given or {})


@dataclass(frozen=True, slots=True)
class Leave:
    """Declining to answer, with or without stopping the turn."""

    back: AnswerStep
    editor: None = None
    keys: str = "nc"

    def head(self, ink: Ink, width: int) -> list[str]:
        return choices(
            ink,
            width,
            [("n", "no answer"), ("c", "no answer, and stop"), ("Esc", "back to the question")],
        )

    def press(self, key: Key) -> Came:
        if key.name == "escape":
            return self.back
        return {"n": by_person("deny"), "c": by_person("cancel")}.get(key.text)
