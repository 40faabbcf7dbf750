"""When a prompt that the host sent becomes part of a turn.

A prompt that is sent while the agent works is queued: it joins the running turn after the next tool result, or
begins the next one. Which of the two it was is known from an echo of it, from its ``command_lifecycle``, or
because another turn begins.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final, NamedTuple

from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.stream_json.blocks import Prompted
from dragoman.harnesses.stream_json.session import StreamSession

SENT: Final = "sent"
ECHO: Final = "echo"


class _Queued(NamedTuple):
    prompt: Prompted
    uuid: str | None
    line: int
    at: datetime | None


class PromptQueue:
    """Prompts that were sent and are in no turn yet."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._queue: list[_Queued] = []
        self._reported: set[str] = set()
        """The prompts that the agent has reported on: it would say so if one was taken up."""
        self.is_fresh = False
        """Whether the open turn began with a prompt and the agent has not taken it up yet."""

    @property
    def is_waiting(self) -> bool:
        return bool(self._queue)

    def send(self, session: StreamSession, prompt: Prompted, uuid: str | None) -> None:
        queued = _Queued(prompt, uuid, self._out.line, self._out.at)
        if session.assembler.in_turn or not session.assembler.has_facts:
            self._queue.append(queued)
        else:
            session.begin_turn(uuid)
            self.is_fresh = True
            self._emit(session, queued)

    def begin_turn(self, session: StreamSession) -> None:
        """The agent begins a turn: with the oldest prompt that waits, if there is one."""
        if self.is_fresh and session.assembler.in_turn:
            self.is_fresh = False
            session.assembler.duplicate("turn: its prompt began it")
            return
        queued = self._queue.pop(0) if self._queue else None
        session.begin_turn(queued.uuid if queued is not None else None)
        if queued is not None:
            self._emit(session, queued)

    def take(self, session: StreamSession, uuid: str) -> bool:
        """The agent takes up the prompt of this id, in the turn that is open."""
        found = next((each for each in self._queue if each.uuid == uuid), None)
        if found is None or not session.assembler.in_turn:
            return False
        self._queue.remove(found)
        self._emit(session, found)
        return True

    def report(self, uuid: str) -> None:
        """The agent has received the prompt of this id, and will say what becomes of it."""
        self._reported.add(uuid)

    def cancel(self, uuid: str) -> None:
        """The prompt of this id will not be taken up."""
        for queued in [each for each in self._queue if each.uuid == uuid]:
            self._queue.remove(queued)
            self._drop(queued)

    def echo(self, session: StreamSession, prompt: Prompted) -> None:
        """The agent repeats a prompt as it takes it up."""
        found = next((each for each in self._queue if each.prompt.text == prompt.text), None)
        if not session.assembler.in_turn:
            session.begin_turn()
            self.is_fresh = True
        if found is not None:
            self._queue.remove(found)
            self._emit(session, found)
        session.assembler.prompt(ECHO, prompt.text, prompt.images)

    def flush(self, session: StreamSession, last_turn: str | None) -> None:
        """No more will come: what still waits joined the last turn, or none was ever opened."""
        while self._queue:
            queued = self._queue.pop(0)
            if queued.uuid in self._reported:
                self._drop(queued)
                continue
            if not session.assembler.in_turn:
                session.assembler.attribute_to(last_turn)
            self._emit(session, queued)
            session.assembler.attribute_to(None)

    def _drop(self, queued: _Queued) -> None:
        self._out.duplicate_of_line(queued.line, "prompt: it was never taken up")

    def _emit(self, session: StreamSession, queued: _Queued) -> None:
        out = self._out
        now = (out.line, out.at)
        out.line, out.at = queued.line, queued.at
        session.assembler.prompt(SENT, queued.prompt.text, queued.prompt.images)
        out.line, out.at = now
