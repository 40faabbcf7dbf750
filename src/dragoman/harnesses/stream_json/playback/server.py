"""Playing an agent that takes prompts and control requests as lines: each prompt gets the recording's next turn.

| the host sends | and gets |
|---|---|
| a user message | the next turn, in the recording's own time; while one runs, it waits, or joins that one |
| interrupt | the end of the turn |
| another control request | what the harness says, or a refusal |

Where the recording asks something, the turn waits for the host's answer, and then continues as recorded,
whatever the answer was; only a denial with ``interrupt`` ends the turn. Nothing is ever executed, so every
permission mode that is requested is confirmed.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import msgspec

from dragoman.harnesses.stream_json.playback.recorded import RecordedSession, made_up_id
from dragoman.harnesses.stream_json.playback.steps import Line, Step, StepWriter
from dragoman.model.messages import TurnEnded, TurnError
from dragoman.wire import jsonl
from dragoman.wire.loose import as_dict, as_str


class StreamJsonServer:
    """One process with one session."""

    joins = False
    """Whether a prompt for an agent at work joins the running turn."""

    def __init__(self, script: RecordedSession, writer: StepWriter) -> None:
        self._script = script
        self._session_id = script.session_id
        self._writer = writer
        self._out: list[bytes] = []
        self._queue: deque[str] = deque()
        """The prompts that are in no turn yet, by their uuid."""
        self._answered: list[str] = []
        """The prompts of the turn that runs."""
        self._steps: deque[Step] = deque()
        self._is_running = False
        self._waits_for: str | None = None
        self._next_at = 0.0
        self._played = 0
        self._sent = 0

    # What a harness says.

    def answer(self, request_id: str, request: Line) -> bool:
        """Answer a control request; False if it is not known."""
        raise NotImplementedError

    def refusal(self, subtype: str) -> Line:
        """What is said about a request that is not known."""
        raise NotImplementedError

    def report(self, uuid: str, state: str) -> None:
        """Report what becomes of a prompt."""

    def result_of(self, line: Line, answered: list[str]) -> Line:
        """The result of the turn that answers these prompts."""
        return line

    # Lines in, lines out.

    def receive_line(self, line: bytes, now: float) -> None:
        try:
            said = as_dict(jsonl.loads(line))
        except jsonl.NotJson:
            return
        match said.get("type"):
            case "user":
                self._prompted(as_str(said.get("uuid")), now)
            case "control_request":
                request_id = as_str(said.get("request_id")) or ""
                self._asked(request_id, as_dict(said.get("request")))
            case "control_response":
                self._decided(as_dict(said.get("response")), now)
            case _:
                pass

    def lines_to_send(self, now: float) -> list[bytes]:
        self._play(now)
        out, self._out = self._out, []
        return out

    def due_at(self) -> float | None:
        return self._next_at if self._steps and self._waits_for is None else None

    # Turns.

    def _prompted(self, uuid: str | None, now: float) -> None:
        name = uuid or made_up_id(self._session_id, "prompt", self._sent)
        self.report(name, "queued")
        self._queue.append(name)
        if not self._is_running:
            self._begin(now)

    def _begin(self, now: float) -> None:
        """The next turn, for the oldest prompt that waits."""
        name = self._queue.popleft()
        self.report(name, "started")
        self._answered = [name]
        self._is_running = True
        if self._played < len(self._script.turns):
            turn = self._script.turns[self._played]
            self._played += 1
            self._steps = deque(self._writer.write(turn))
        else:
            total = len(self._script.turns)
            said = f"the recording has no further turn: it has {total}"
            error = TurnError("response_error", said, retryable=False)
            ended = TurnEnded(outcome="failed", error=error)
            result = self._writer.result(ended, said, self._played)
            self._steps = deque((Step(0.0, self._writer.init()), Step(0.0, result, ends=True)))
        self._next_at = now + self._steps[0].after

    def _play(self, now: float) -> None:
        while self._steps and self._waits_for is None and self._next_at <= now:
            step = self._steps.popleft()
            if step.ends:
                self._end(step.line)
                if self._queue and not self._steps:
                    self._begin(now)
            elif step.asks:
                self._waits_for = as_str(step.line.get("request_id"))
                self._send(step.line)
            else:
                self._send(step.line)
            if step.joins and self.joins:
                self._join()
            if self._steps:
                self._next_at = max(self._next_at, now) + self._steps[0].after

    def _join(self) -> None:
        while self._queue:
            name = self._queue.popleft()
            self.report(name, "started")
            self._answered.append(name)

    def _end(self, line: Line) -> None:
        self._send(self.result_of(line, self._answered))
        for name in self._answered:
            self.report(name, "completed" if line.get("is_error") is False else "cancelled")
        self._answered, self._is_running, self._waits_for = [], False, None

    def _stop(self, now: float) -> None:
        if not self._is_running:
            return
        self.withdraw(self._waits_for)
        self._steps.clear()
        for line in self._writer.interruption():
            self._send(line)
        ended = TurnEnded(outcome="interrupted")
        self._end(self._writer.result(ended, "", self._played))
        if self._queue:
            self._begin(now)

    def _decided(self, response: Line, now: float) -> None:
        if self._waits_for is None or response.get("request_id") != self._waits_for:
            return
        self._waits_for = None
        answer = as_dict(response.get("response"))
        if answer.get("interrupt") is True or answer.get("action") == "cancel":
            self._stop(now)
        elif self._steps:
            self._next_at = now + self._steps[0].after

    # Control requests.

    def _asked(self, request_id: str, request: Line) -> None:
        subtype = as_str(request.get("subtype")) or ""
        if not self.answer(request_id, request):
            error = {"subtype": "error", "request_id": request_id, **self.refusal(subtype)}
            self._send({"type": "control_response", "response": error})

    def withdraw(self, request_id: str | None) -> None:
        """The turn that asked this is interrupted."""

    def _answer(self, request_id: str, result: Line) -> None:
        response = {"subtype": "success", "request_id": request_id, "response": result}
        self._send({"type": "control_response", "response": response})

    def _refuse(self, request_id: str, why: str) -> None:
        error = {"subtype": "error", "request_id": request_id, "error": why}
        self._send({"type": "control_response", "response": error})

    def _send(self, line: Any) -> None:
        self._sent += 1
        if line["type"] not in ("control_response", "control_request", "control_cancel_request"):
            line = {**line, "session_id": self._session_id}
            line.setdefault("uuid", made_up_id(self._session_id, "sent", self._sent))
        self._out.append(msgspec.json.encode(line))
