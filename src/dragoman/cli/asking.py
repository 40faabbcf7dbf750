"""Asking the person at the terminal: what the agent wants to do, the choices, and a countdown.

====  ==========================================================
key   decision
====  ==========================================================
y     allow
a     allow for this session
p     allow from now on, if the agent offers it
n     deny
w     deny, and tell the agent why, or what to do instead
c     deny, and stop the turn
====  ==========================================================

Whoever does not answer in time has denied; a key that means nothing does nothing. A question is
answered with a number or in one's own words.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import Any, Final, Protocol, cast

from dragoman.cli import live_asks
from dragoman.cli.live import LiveView
from dragoman.cli.live_cells import clip, tidy, wrap
from dragoman.cli.live_editor import Editor
from dragoman.cli.live_ink import Ink
from dragoman.cli.live_keys import Key, Listener
from dragoman.crew.deciding import Decision
from dragoman.model.messages import ApprovalRequested

PATIENCE: Final = 240.0
"""Seconds after which no answer is a no."""

CALM: Final = 0.5
"""Seconds without a key before the first key is taken for an answer."""

_KEYS: Final[dict[str, tuple[str, str]]] = {
    "y": ("allow", "yes"),
    "a": ("allow_for_session", "yes, for this session"),
    "p": ("allow_always", "yes, from now on"),
    "n": ("deny", "no"),
    "w": ("deny", "no, and say why"),
    "c": ("cancel", "no, and stop"),
}


class Ears(Protocol):
    """Where keys are heard."""

    def heard_by(self, listener: Listener) -> AbstractContextManager[None]: ...


class Asker:
    """Asks one thing at a time, below the live view."""

    def __init__(
        self,
        view: LiveView,
        keyboard: Ears,
        clock: Callable[[], float],
        *,
        patience: float = PATIENCE,
        shows: bool = False,
    ) -> None:
        self._view = view
        self._keyboard = keyboard
        self._clock = clock
        self._patience = patience
        self._shows = shows
        """Whether the view has to be told what is asked: it does not hear the messages itself."""
        self._ink = Ink(colour=view.colour)
        self._turn = asyncio.Lock()

    async def __call__(self, request: ApprovalRequested) -> Decision:
        async with self._turn:
            if self._shows:
                self._view.show(request)
            question = _Question(request, self._ink)
            before = self._view.footed
            try:
                return await self._ask(question)
            finally:
                self._view.footer(before)

    async def _ask(self, question: _Question) -> Decision:
        asked = self._clock()
        deadline = asked + self._patience
        pressed = asyncio.Event()
        heard = asked

        def press(key: Key) -> None:
            nonlocal heard
            # Who was typing when the question came did not mean to answer it.
            is_typing, heard = (
                not question.is_touched and self._clock() - heard < CALM,
                self._clock(),
            )
            if not is_typing:
                question.press(key)
                pressed.set()

        with self._keyboard.heard_by(press):
            while question.decision is None:
                left = deadline - self._clock()
                if left <= 0:
                    return Decision(word="deny", by="deadline")
                self._view.footer(question.rows(self._view.width - 1, left))
                pressed.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(min(1.0, left)):
                        await pressed.wait()
        return question.decision


class _Question:
    """What is asked and how far the answer has come. Has no clock and no terminal."""

    def __init__(self, request: ApprovalRequested, ink: Ink) -> None:
        self._request = request
        self._ink = ink
        self._editor: Editor | None = None
        self._open = _questions(request) if request.kind == "question" else []
        self._answers: dict[str, list[str]] = {}
        if self._open:
            self._editor = Editor()
        self.is_touched = False
        """Whether the user has begun to answer."""
        self.decision: Decision | None = None

    def press(self, key: Key) -> None:
        self.is_touched = True
        if key.name == "end-of-file" and not (self._editor and self._editor.text):
            self.decision = Decision(word="deny", by="person")
        elif self._open:
            self._answer(key)
        elif self._editor is not None:
            self._reason(key)
        elif key.name == "text" and (choice := self._choices().get(key.text)):
            if key.text == "w":
                self._editor = Editor()
            else:
                self.decision = Decision(word=cast("Any", choice[0]), by="person")

    def rows(self, width: int, left: float) -> list[str]:
        """What stands below the question."""
        count = self._ink(f"{int(left) + 1} s, then no", "dim")
        if self._open:
            _, text, labels = self._open[0]
            rows = [self._ink(row, "bold") for row in wrap(tidy(text), width)]
            rows += [
                clip(f"  {number} {tidy(label)}", width) for number, label in enumerate(labels, 1)
            ]
            return [*rows, *self._typed(width), count]
        if self._editor is not None:
            why = self._ink("What should it know, or do instead? (Esc: back)", "dim")
            return [why, *self._typed(width), count]
        keys = [
            f"{self._ink(key, 'yellow', 'bold')} {words}"
            for key, (_, words) in self._choices().items()
        ]
        return ["   ".join(keys), count]

    def _typed(self, width: int) -> list[str]:
        assert self._editor is not None
        return self._editor.rows(self._ink, width)

    def _choices(self) -> dict[str, tuple[str, str]]:
        offered = self._request.choices or ["allow", "deny", "cancel"]
        return {key: each for key, each in _KEYS.items() if each[0] in offered}

    def _reason(self, key: Key) -> None:
        assert self._editor is not None
        if key.name == "escape":
            self._editor = None
            return
        entry = self._editor.press(key)
        if entry is not None:
            self.decision = Decision(word="deny", message=entry.strip() or None, by="person")

    def _answer(self, key: Key) -> None:
        assert self._editor is not None
        entry = self._editor.press(key)
        if entry is None or not entry.strip():
            return
        name, _, labels = self._open.pop(0)
        number = int(entry) if entry.strip().isdecimal() and len(entry) < 4 else 0
        self._answers[name] = [labels[number - 1] if 0 < number <= len(labels) else entry.strip()]
        if not self._open:
            self.decision = Decision(word="answered", answers=self._answers, by="person")


def _questions(request: ApprovalRequested) -> list[tuple[str, str, list[str]]]:
    """Each question's id, its text and the answers it suggests."""
    return live_asks.options(request)


def nobody_there(say: Callable[[str], None]) -> Callable[[ApprovalRequested], Any]:
    """Who answers when there is no terminal to ask at: denies, and says so."""

    async def deny(request: ApprovalRequested) -> Decision:
        what = clip(" ".join(tidy(request.summary or request.kind).split()), 200)
        say(f"denied, nobody is there to ask: {request.kind}: {what} (--yes or --policy decide)")
        return Decision(word="deny", by="nobody to ask")

    return deny
