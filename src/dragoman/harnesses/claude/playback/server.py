"""Playing ``claude -p --input-format stream-json``: each prompt gets the recording's next turn.

| the host sends | and gets |
|---|---|
| initialize, set_permission_mode, mcp_status … | an answer, as from a program that needs no sign-in |
| a user message | the next turn, in the recording's own time; while one runs, it joins that one after a tool result |
| interrupt | the end of the turn |
| any other control request | a refusal, in the words of the real program |

Where the recording asks something, the turn waits for the host's answer, and then continues as recorded,
whatever the answer was; only a denial with ``interrupt`` ends the turn. Nothing is ever executed, so every
permission mode that is requested is confirmed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from dragoman.harnesses.claude.playback.release import RELEASE
from dragoman.harnesses.claude.playback.shapes import Line, result_line
from dragoman.harnesses.claude.playback.turns import ClaudeTurnWriter, Step, interruption_line
from dragoman.harnesses.contract.playback import TimedMessage
from dragoman.harnesses.stream_json.playback.recorded import made_up_id, recorded
from dragoman.model.messages import TurnEnded, TurnError
from dragoman.wire import jsonl
from dragoman.wire.loose import as_dict, as_str

_DONE: Final = frozenset(
    ("set_max_thinking_tokens", "apply_flag_settings", "stop_task", "end_session")
)
_MODES: Final = ("acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan")


class StreamJsonServer:
    """One process with one session."""

    def __init__(self, cues: Sequence[TimedMessage]) -> None:
        self._script = recorded(cues)
        self._session_id = self._script.session_id
        self._writer = ClaudeTurnWriter(self._script.started, self._script.own, self._session_id)
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
        self._report(name, "queued")
        self._queue.append(name)
        if not self._is_running:
            self._begin(now)

    def _begin(self, now: float) -> None:
        """The next turn, for the oldest prompt that waits."""
        name = self._queue.popleft()
        self._report(name, "started")
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
            self._steps = deque(
                (
                    Step(0.0, self._writer.init()),
                    Step(0.0, result_line(ended, said, 0.0, self._played), ends=True),
                )
            )
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
            if step.joins:
                self._join()
            if self._steps:
                self._next_at = max(self._next_at, now) + self._steps[0].after

    def _join(self) -> None:
        while self._queue:
            name = self._queue.popleft()
            self._report(name, "started")
            self._answered.append(name)

    def _end(self, line: Line) -> None:
        self._send({**line, "user_message_uuids": self._answered})
        for name in self._answered:
            self._report(name, "completed" if line.get("is_error") is False else "cancelled")
        self._answered, self._is_running, self._waits_for = [], False, None

    def _stop(self, now: float) -> None:
        if not self._is_running:
            return
        if self._waits_for is not None:
            self._send({"type": "control_cancel_request", "request_id": self._waits_for})
        self._steps.clear()
        self._send(interruption_line())
        ended = TurnEnded(outcome="interrupted")
        self._end(result_line(ended, "", 0.0, self._played))
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
        if subtype in _DONE:
            self._answer(request_id, {})
            return
        answer = _CALLS.get(subtype)
        if answer is None:
            why = f"Unsupported control request subtype: {subtype}"
            error = {"subtype": "error", "request_id": request_id, "error": why}
            response = {**error, "error_code": "unsupported_request"}
            self._send({"type": "control_response", "response": response})
        else:
            answer(self, request_id, request)

    def _answer(self, request_id: str, result: Line) -> None:
        response = {"subtype": "success", "request_id": request_id, "response": result}
        self._send({"type": "control_response", "response": response})

    def _initialize(self, request_id: str, request: Line) -> None:
        model = self._script.started.model or "recorded"
        self._answer(
            request_id,
            {
                "commands": [],
                "agents": [],
                "models": [{"value": model, "displayName": model, "description": "recorded"}],
                "account": {"tokenSource": "recording", "apiProvider": "firstParty"},
                "claude_code_version": self._writer.init()["claude_code_version"] or RELEASE,
                "current_permission_mode": self._writer.mode,
            },
        )

    def _set_mode(self, request_id: str, request: Line) -> None:
        mode = as_str(request.get("mode")) or ""
        if mode not in _MODES:
            why = f"Cannot set permission mode: must be one of {', '.join(_MODES)}"
            error = {"subtype": "error", "request_id": request_id, "error": why}
            self._send({"type": "control_response", "response": error})
            return
        changed, self._writer.mode = mode != self._writer.mode, mode
        self._answer(request_id, {"mode": mode})
        if changed:
            status = {"type": "system", "subtype": "status", "status": None}
            self._send({**status, "permissionMode": mode})

    def _set_model(self, request_id: str, request: Line) -> None:
        self._answer(request_id, {"model": request.get("model")})

    def _rename(self, request_id: str, request: Line) -> None:
        title = {"type": "system", "subtype": "session_title_changed"}
        self._send({**title, "title": request.get("title")})
        self._answer(request_id, {})

    def _servers(self, request_id: str, request: Line) -> None:
        self._answer(request_id, {"mcpServers": []})

    def _usage(self, request_id: str, request: Line) -> None:
        self._answer(request_id, {"rate_limits_available": False, "rate_limits": None})

    def _cancel(self, request_id: str, request: Line) -> None:
        uuid = as_str(request.get("message_uuid")) or ""
        found = uuid in self._queue
        if found:
            self._queue.remove(uuid)
            self._report(uuid, "cancelled")
        self._answer(request_id, {"cancelled": found, "message_uuid": uuid})

    def _interrupt(self, request_id: str, request: Line) -> None:
        self._answer(request_id, {"still_queued": list(self._queue)})
        self._stop(self._next_at)

    def _report(self, uuid: str, state: str) -> None:
        self._send({"type": "command_lifecycle", "command_uuid": uuid, "state": state})

    def _send(self, line: Any) -> None:
        self._sent += 1
        if line["type"] not in ("control_response", "control_request", "control_cancel_request"):
            line = {**line, "session_id": self._session_id}
            line.setdefault("uuid", made_up_id(self._session_id, "sent", self._sent))
        self._out.append(msgspec.json.encode(line))


_Call: TypeAlias = Callable[[StreamJsonServer, str, Line], None]
_CALLS: Final[dict[str, _Call]] = {
    "initialize": StreamJsonServer._initialize,
    "set_permission_mode": StreamJsonServer._set_mode,
    "set_model": StreamJsonServer._set_model,
    "rename_session": StreamJsonServer._rename,
    "mcp_status": StreamJsonServer._servers,
    "get_usage": StreamJsonServer._usage,
    "cancel_async_message": StreamJsonServer._cancel,
    "interrupt": StreamJsonServer._interrupt,
}
