"""Playing an agent over ACP: each prompt gets the recording's next turn.

| the host asks for | and gets |
|---|---|
| initialize, session/new, session/resume, session/load | an answer, as from an agent that needs no sign-in |
| session/prompt | the next turn, in the recording's own time |
| session/cancel | the end of the turn |
| session/set_mode, session/set_model, session/close … | an answer; nothing is ever executed |
| any other method | the error -32601 |

Where the recording asks something, the turn waits for the host's answer, and then continues as recorded, whatever the
answer was; an answer that cancels ends the turn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, Final

from dragoman.harnesses.acp.methods import PROTOCOL_VERSION
from dragoman.harnesses.acp.playback.steps import AcpStep, recorded_session, steps_of, wire_usage
from dragoman.harnesses.contract.playback import TimedMessage
from dragoman.model.messages import TurnEnded, TurnError
from dragoman.wire.jsonrpc import (
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    ErrorResponse,
    Notification,
    Peer,
    Request,
    RequestId,
    Response,
)
from dragoman.wire.loose import as_dict, as_str

_DONE: Final = ("session/set_model", "session/set_config_option", "session/close", "authenticate")
PLAIN_MODES: Final = (("default", "Default"), ("plan", "Plan"), ("yolo", "YOLO"))


class AcpServer:
    """One process with one session."""

    def __init__(
        self,
        cues: Sequence[TimedMessage],
        *,
        agent: str = "dragoman-replay",
        modes: Sequence[tuple[str, str]] = PLAIN_MODES,
    ) -> None:
        self._script = recorded_session(cues)
        self._agent = agent
        self._modes = modes
        self._mode = modes[0][0]
        self._session_id = self._script.session_id
        self._peer = Peer(version_field=True)
        self._prompt: RequestId | None = None
        self._steps: deque[AcpStep] = deque()
        self._waits_for: int | None = None
        self._next_at = 0.0
        self._played = 0

    # Lines in, lines out.

    def receive_line(self, line: bytes, now: float) -> None:
        self._peer.receive_line(line)
        for event in self._peer.events():
            match event:
                case Request():
                    self._asked(event, as_dict(event.params), now)
                case Notification(method="session/cancel"):
                    self._stop()
                case Response() | ErrorResponse() if event.id == self._waits_for:
                    self._decided(event, now)
                case _:
                    pass

    def lines_to_send(self, now: float) -> list[bytes]:
        self._play(now)
        return [line.rstrip(b"\n") for line in self._peer.lines_to_send()]

    def due_at(self) -> float | None:
        return self._next_at if self._steps and self._waits_for is None else None

    # Requests.

    def _asked(self, request: Request, params: dict[str, Any], now: float) -> None:
        match request.method:
            case "initialize":
                self._peer.answer(request.id, self._greeting())
            case "session/new":
                self._peer.answer(request.id, {"sessionId": self._session_id, **self._choices()})
            case "session/resume" | "session/load":
                self._session_id = as_str(params.get("sessionId")) or self._session_id
                self._peer.answer(request.id, self._choices())
            case "session/set_mode":
                self._mode = as_str(params.get("modeId")) or self._mode
                self._peer.answer(request.id, {})
            case "session/prompt":
                self._prompted(request.id, now)
            case method if method in _DONE:
                self._peer.answer(request.id, {})
            case method:
                said = f'"Method not found": {method}'
                self._peer.refuse(request.id, METHOD_NOT_FOUND, said, {"method": method})

    def _greeting(self) -> dict[str, Any]:
        return {
            "protocolVersion": PROTOCOL_VERSION,
            "agentCapabilities": {
                "loadSession": True,
                "promptCapabilities": {"image": True, "embeddedContext": True},
                "sessionCapabilities": {"close": {}, "resume": {}},
            },
            "agentInfo": {
                "name": self._agent,
                "title": self._agent,
                "version": self._script.started.version or "1.0.0",
            },
            "authMethods": [],
        }

    def _choices(self) -> dict[str, Any]:
        model = self._script.started.model or "recorded"
        return {
            "modes": {
                "currentModeId": self._mode,
                "availableModes": [{"id": id, "name": name} for id, name in self._modes],
            },
            "models": {
                "currentModelId": model,
                "availableModels": [{"modelId": model, "name": model}],
            },
        }

    # Turns.

    def _prompted(self, request_id: RequestId, now: float) -> None:
        if self._prompt is not None:
            self._peer.refuse(request_id, INTERNAL_ERROR, "a prompt is already under way")
            return
        self._prompt = request_id
        if self._played < len(self._script.turns):
            self._steps = deque(steps_of(self._script.turns[self._played]))
            self._played += 1
        else:
            said = f"the recording has no further turn: it has {len(self._script.turns)}"
            error = TurnError("response_error", said, retryable=False)
            self._steps = deque([AcpStep(0.0, ends=TurnEnded(outcome="failed", error=error))])
        self._next_at = now + self._steps[0].after

    def _play(self, now: float) -> None:
        while self._steps and self._waits_for is None and self._next_at <= now:
            step = self._steps.popleft()
            if step.update is not None:
                params = {"sessionId": self._session_id, "update": step.update}
                self._peer.notify("session/update", params)
            elif step.asks is not None:
                method, params = step.asks
                params = {"sessionId": self._session_id, **params}
                self._waits_for = self._peer.request(method, params)
            elif step.ends is not None:
                self._end(step.ends)
            if self._steps:
                self._next_at = max(self._next_at, now) + self._steps[0].after

    def _decided(self, event: Response | ErrorResponse, now: float) -> None:
        self._waits_for = None
        result = as_dict(event.result) if isinstance(event, Response) else {}
        outcome = as_dict(result.get("outcome")).get("outcome")
        if outcome == "cancelled" or result.get("action") == "cancel":
            self._stop()
        else:
            self.allow(now)

    def allow(self, now: float) -> None:
        """Go on without an answer to what was asked."""
        self._waits_for = None
        if self._steps:
            self._next_at = now + self._steps[0].after

    def _stop(self) -> None:
        if self._prompt is not None:
            self._end(TurnEnded(outcome="interrupted"))

    def _end(self, ended: TurnEnded) -> None:
        prompt, self._prompt = self._prompt, None
        self._steps.clear()
        self._waits_for = None
        if prompt is None:
            return
        if ended.outcome == "failed":
            error = ended.error
            said = f"Internal error: {error.message}" if error else "Internal error"
            data = {"errorKind": error.native} if error and error.native else None
            self._peer.refuse(prompt, INTERNAL_ERROR, said, data)
            return
        reason = "cancelled" if ended.outcome == "interrupted" else "end_turn"
        usage = {"usage": wire_usage(ended.usage)} if ended.usage is not None else {}
        self._peer.answer(prompt, {"stopReason": reason, **usage})
