"""Asks the user at the terminal: what the agent wants to do, the choices, and a countdown.

====  ==========================================================
key   decision
====  ==========================================================
y     allow; for a form: fill it in
a     allow for this session
p     allow from now on, if the agent offers it
n     deny
w     deny, and tell the agent why or what to do instead
c     deny, and stop the turn
v     show a request that is too long for the screen in full
====  ==========================================================

No answer before the deadline counts as a denial, and so does losing the terminal. Other keys are
ignored. Questions and forms are answered line by line (:mod:`dragoman.cli.approvals`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import Final, Protocol

from dragoman.cli.approvals.dialog import AnswerDialog
from dragoman.cli.approvals.line_dialog import LineDialog
from dragoman.cli.live.ink import Ink
from dragoman.cli.live.keys import Key, Listener
from dragoman.cli.live.live import LiveView
from dragoman.client.deciding import Decision
from dragoman.model.messages import ApprovalRequested, ApprovalSettled

PATIENCE: Final = 240.0
"""Seconds without an answer after which a request is denied."""

CALM: Final = 0.5
"""Seconds without a key press before the first key counts as an answer."""


class KeySource(Protocol):
    """Delivers the keys that the user presses."""

    def sent_to(self, listener: Listener) -> AbstractContextManager[None]: ...


class Asker:
    """Shows one request at a time below the live view, and returns the decision."""

    def __init__(
        self,
        view: LiveView,
        keyboard: KeySource,
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
        """Whether the view receives no messages of its own, so that requests must be passed to it."""
        self._ink = Ink(colour=view.colour)
        self._turn = asyncio.Lock()

    async def __call__(self, request: ApprovalRequested) -> Decision:
        async with self._turn:
            if self._shows:
                self._view.show(request)
            decision = Decision(word="deny", by="person")
            try:
                decision = await self._ask(AnswerDialog(request))
            finally:
                self._view.ask(None)
                if self._shows:
                    settled = ApprovalSettled(
                        session_id=request.session_id,
                        approval_id=request.approval_id,
                        decision=decision.word,
                    )
                    self._view.show(settled)
            return decision

    async def _ask(self, answering: AnswerDialog) -> Decision:
        asked = self._clock()
        deadline = asked + self._patience
        pressed = asyncio.Event()
        heard = asked

        def press(key: Key) -> None:
            nonlocal heard
            # A user who was typing when the request appeared did not mean to answer it. End of file
            # means that the terminal is gone, and is never a slip of the finger.
            is_typing, heard = (
                not answering.is_touched and self._clock() - heard < CALM,
                self._clock(),
            )
            if not is_typing or key.name == "end-of-file":
                answering.press(key)
                pressed.set()

        def below(width: int, most: int, is_cut: bool) -> list[str]:
            left = deadline - self._clock()
            return answering.rows(self._ink, width, most, left, is_cut=is_cut)

        printing = LineDialog(self._view, answering, self._patience)
        with self._keyboard.sent_to(press):
            while answering.decision is None:
                left = deadline - self._clock()
                if left <= 0:
                    answering.decision = Decision(word="deny", by="deadline")
                    break
                if answering.wants_all:
                    answering.wants_all = False
                    self._view.show_all(answering.request)
                self._view.ask(answering.request, below)
                if not self._view.animate:
                    printing.go_on()
                pressed.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(min(1.0, left)):
                        await pressed.wait()
        if not self._view.animate:
            printing.end()
        return answering.decision
