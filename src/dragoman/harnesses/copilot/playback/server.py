"""Playing ``copilot --headless --stdio``: each prompt gets the recording's next turn.

Where the recording asks something, the turn waits for the client's answer, and then continues as recorded. Nothing is
ever executed, so every mode that is requested is confirmed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from dragoman.harnesses.contract.playback import TimedMessage
from dragoman.harnesses.copilot.playback.events import (
    EventWriter,
    WrittenEvent,
    end_of,
    made_up_id,
)
from dragoman.harnesses.copilot.playback.recorded import run_in
from dragoman.harnesses.copilot.playback.release import RELEASE
from dragoman.model.messages import TurnEnded, TurnError
from dragoman.wire import jsonl
from dragoman.wire.loose import as_dict, as_str

Params: TypeAlias = dict[str, Any]


class CopilotServer:
    """One process. The recording's session plays in whichever session is prompted."""

    def __init__(self, cues: Sequence[TimedMessage]) -> None:
        self._run = run_in(cues)
        self._writer = EventWriter(self._run.own)
        self._session_id = self._run.session_id
        self._out: list[bytes] = []
        self._steps: deque[WrittenEvent] = deque()
        self._queue: deque[str] = deque()
        """The prompts that wait for the turn before them."""
        self._waits_for: str | None = None
        self._next_at = 0.0
        self._played = 0
        self._prompts = 0

    # Lines in, lines out.

    def receive_line(self, line: bytes, now: float) -> None:
        try:
            asked = as_dict(jsonl.loads(line))
        except jsonl.NotJson:
            return
        method, id = as_str(asked.get("method")), asked.get("id")
        if method is None or id is None:
            return
        call = _CALLS.get(method)
        if call is None:
            error = {"code": -32601, "message": f"Unhandled method {method}"}
            self._send({"jsonrpc": "2.0", "id": id, "error": error})
            return
        result = call(self, as_dict(asked.get("params")), now)
        self._send({"jsonrpc": "2.0", "id": id, "result": result})
        if method in ("session.create", "session.resume"):
            self._announce(as_dict(asked.get("params")), method)
        self._play(now)

    def lines_to_send(self, now: float) -> list[bytes]:
        self._play(now)
        out, self._out = self._out, []
        return out

    def due_at(self) -> float | None:
        return self._next_at if self._steps and self._waits_for is None else None

    # Turns.

    def _begin(self, now: float) -> None:
        message_id = self._queue.popleft()
        if self._played < len(self._run.turns):
            turn = self._run.turns[self._played]
            self._played += 1
            self._steps = deque(self._writer.turn(turn, message_id))
        else:
            total = len(self._run.turns)
            said = f"the recording has no further turn: it has {total}"
            error = TurnError("response_error", said, retryable=False)
            self._steps = deque(end_of(TurnEnded(outcome="failed", error=error), is_agent=False))
        self._next_at = now + self._steps[0].after

    def _play(self, now: float) -> None:
        while self._waits_for is None and (self._steps or self._queue):
            if not self._steps:
                self._begin(now)
            if self._next_at > now:
                return
            event = self._steps.popleft()
            self._event(event)
            self._waits_for = event.asks
            if self._steps:
                self._next_at = max(self._next_at, now) + self._steps[0].after

    def _event(self, event: WrittenEvent) -> None:
        params = {"sessionId": self._session_id, "event": self._writer.envelope(event)}
        self._send({"jsonrpc": "2.0", "method": "session.event", "params": params})

    def _announce(self, params: Params, method: str) -> None:
        started = self._run.started
        data = {
            "sessionId": self._session_id,
            "version": 1,
            "copilotVersion": started.version or RELEASE,
            "selectedModel": params.get("model") or started.model,
            "context": {"cwd": params.get("workingDirectory") or started.cwd},
        }
        kind = "session.start" if method == "session.create" else "session.resume"
        self._event(WrittenEvent(0.0, kind, data))

    # What is asked of it.

    def _connect(self, params: Params, now: float) -> Any:
        return {"ok": True, "protocolVersion": 3, "version": RELEASE, "taskKinds": ["agent"]}

    def _open(self, params: Params, now: float) -> Any:
        self._session_id = as_str(params.get("sessionId")) or self._session_id
        model = params.get("model") or self._run.started.model
        return {
            "sessionId": self._session_id,
            "nativeSessionId": self._session_id,
            "modelState": {"modelId": model},
        }

    def _fork(self, params: Params, now: float) -> Any:
        return {"sessionId": made_up_id(1 << 24)}

    def _sent(self, params: Params, now: float) -> Any:
        self._prompts += 1
        message_id = made_up_id(self._prompts << 16)
        if not (params.get("mode") == "immediate" and self._steps):
            self._queue.append(message_id)
        return {"messageId": message_id}

    def _abort(self, params: Params, now: float) -> Any:
        if self._steps or self._waits_for is not None:
            asked, self._waits_for = self._waits_for, None
            self._steps.clear()
            if asked is not None:
                result = {"requestId": asked, "result": {"kind": "cancelled"}}
                self._event(WrittenEvent(0.0, "permission.completed", result))
            for event in end_of(TurnEnded(outcome="interrupted"), is_agent=False):
                self._event(event)
        return {"success": True}

    def _decided(self, params: Params, now: float) -> Any:
        request_id = as_str(params.get("requestId"))
        if request_id is None or request_id != self._waits_for:
            return {"success": False}
        self._waits_for = None
        kind = as_str(as_dict(params.get("result")).get("kind")) or "reject"
        result = {"requestId": request_id, "result": {"kind": _RESULTS.get(kind, _DENIED)}}
        self._event(WrittenEvent(0.0, "permission.completed", result))
        self._next_at = now + (self._steps[0].after if self._steps else 0.0)
        return {"success": True}

    def _mode(self, params: Params, now: float) -> Any:
        return {"success": True, "status": "ok", "mode": params.get("mode")}

    def _done(self, params: Params, now: float) -> Any:
        return {"success": True}

    def _models(self, params: Params, now: float) -> Any:
        model = self._run.started.model or "recorded"
        return {"models": [{"id": model, "name": model}]}

    def _sessions(self, params: Params, now: float) -> Any:
        return {"sessions": [{"sessionId": self._session_id, "isRemote": False}]}

    def _processing(self, params: Params, now: float) -> Any:
        return {"processing": bool(self._steps)}

    def _send(self, message: Params) -> None:
        self._out.append(msgspec.json.encode(message))


_DENIED: Final = "denied-interactively-by-user"
_RESULTS: Final = {
    "approve-once": "approved",
    "approve-for-session": "approved-for-session",
    "approve-for-location": "approved-for-location",
}
_Call: TypeAlias = Callable[[CopilotServer, Params, float], Any]
_CALLS: Final[dict[str, _Call]] = {
    "connect": CopilotServer._connect,
    "session.create": CopilotServer._open,
    "session.resume": CopilotServer._open,
    "sessions.fork": CopilotServer._fork,
    "session.send": CopilotServer._sent,
    "session.abort": CopilotServer._abort,
    "session.permissions.handlePendingPermissionRequest": CopilotServer._decided,
    "session.permissions.setMode": CopilotServer._mode,
    "session.mode.set": CopilotServer._mode,
    "session.model.switchTo": CopilotServer._done,
    "session.name.set": CopilotServer._done,
    "session.destroy": CopilotServer._done,
    "session.metadata.isProcessing": CopilotServer._processing,
    "models.list": CopilotServer._models,
    "sessions.list": CopilotServer._sessions,
    "runtime.shutdown": CopilotServer._done,
}
