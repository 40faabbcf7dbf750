"""A run of ``codex exec`` that we started ourselves: its stream, with what only we know.

The stream has no prompt, no directory and no model, and when it is cut off it has no end. The
program that started the process knows all of these, so that a live run has the same messages as the
session file that it leaves.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from dragoman.harnesses.codex.exec.ending import ending
from dragoman.harnesses.codex.exec.parser import CHANNEL, ExecParser, RunOpened
from dragoman.harnesses.codex.versions import THREAD_TOTALS, can, spelled
from dragoman.harnesses.contract.conversation import Release
from dragoman.harnesses.contract.transport import OneShot
from dragoman.model.messages import Outcome, TurnError
from dragoman.model.usage import Usage

_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class ExecRun(ExecParser):
    """One run: whatever happens to the process, it emits one prompt and one end of its turn."""

    def __init__(self, release: Release | None, shot: OneShot, spent: Usage | None = None) -> None:
        """``spent`` is what the resumed session has used in all, if known."""
        super().__init__()
        self._release = release
        self._shot = shot
        self._goes_on = shot.resume is not None or shot.fork is not None
        self._spent = spent if self._goes_on else None
        self._has_asked = False
        self._turn_id: str | None = None
        self._is_over = False
        self._opened = RunOpened(
            prompt=shot.prompt,
            images=list(shot.images),
            version=spelled(release) if release is not None else None,
            model=shot.model,
            cwd=shot.cwd,
            fork=shot.fork,
        )
        if self._spent is not None:
            # This is not news: it is only the total to count from.
            self._session.usage(self._spent, None, old=True)
            self._out.take_messages()

    def opening(self) -> bytes:
        """What only we know of this run, as a line for the journal."""
        return msgspec.json.encode(self._opened)

    def receive_exit(
        self, code: int | None, *, stopped: bool = False, stderr_tail: str = ""
    ) -> None:
        """The process is gone, and no more lines will come: the turn ends, if it has not.

        ``code`` is negative for the signal that ended it; ``stopped`` is whether we stopped it.
        """
        if not self._is_over:
            end = ending(code, stderr_tail, began=self._session.in_turn, stopped=stopped)
            self._end(end.outcome, end.error)
        self.receive_eof()

    def end_turn(self, outcome: Outcome, error: TurnError | None = None) -> None:
        """End the turn before the process does: stalled, out of time, or given up.

        What still arrives belongs to that turn and does not start another.
        """
        if not self._is_over:
            self._end(outcome, error)

    def _end(self, outcome: Outcome, error: TurnError | None) -> None:
        session = self._session
        if not session.in_turn:
            self._begin_turn()
        self._turn_id = session.open_turn
        session.end_turn(outcome, error)
        self._close()

    def _close(self) -> None:
        """From here on nothing begins a turn: what comes late belongs to the one that was."""
        self._is_over = True
        self._session.attribute_to(self._turn_id)

    def _read(self, line: bytes) -> None:
        super()._read(line)
        if self._is_over:
            return
        if self._session.in_turn:
            self._turn_id = self._session.open_turn
            self._ask()
        elif self._has_asked:
            self._close()

    def _begin_session(self) -> None:
        shot, session = self._shot, self._session
        session.begin_session(
            version=spelled(self._release) if self._release is not None else None,
            model=shot.model,
            cwd=shot.cwd,
            parent_session_id=shot.fork,
        )
        asked, given = shot.resume or "", session.session_id or ""
        if _UUID.fullmatch(asked) and given.lower() != asked.lower():
            # To 0.115 this is not an error; a name, which later releases take, cannot be compared.
            self._goes_on = False
            session.notice(
                CHANNEL, "warning", f"there is no session {asked} to go on with: this is a new one"
            )

    def _begin_turn(self) -> None:
        if self._is_over:
            self._session.duplicate("turn: ended before it began")
            return
        self._session.begin_turn()
        self._ask()

    def _ask(self) -> None:
        if not self._has_asked:
            self._has_asked = True
            self._session.prompt(CHANNEL, self._shot.prompt, list(self._shot.images))

    def _count(self, total: Usage) -> None:
        if not self._goes_on:
            self._session.usage(total, None)
        elif can(self._release, THREAD_TOTALS):
            # Without a total to count from, this turn's share is unknown.
            self._session.usage(total, None, old=self._spent is None)
        else:
            self._session.usage(total if self._spent is None else self._spent + total, None)
