"""Playing ``claude -p --input-format stream-json``.

| the host sends | and gets |
|---|---|
| initialize, set_permission_mode, mcp_status … | an answer, as from a program that needs no sign-in |
| a prompt while a turn runs | it joins that one after a tool result |
| any other control request | a refusal, in the words of the real program |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from dragoman.harnesses.claude.playback.release import RELEASE
from dragoman.harnesses.claude.playback.turns import ClaudeTurnWriter
from dragoman.harnesses.contract.playback import TimedMessage
from dragoman.harnesses.stream_json.playback.recorded import recorded
from dragoman.harnesses.stream_json.playback.server import StreamJsonServer
from dragoman.harnesses.stream_json.playback.steps import Line
from dragoman.wire.loose import as_str

_DONE: Final = frozenset(
    ("set_max_thinking_tokens", "apply_flag_settings", "stop_task", "end_session")
)
_MODES: Final = ("acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan")


class ClaudeServer(StreamJsonServer):
    """One process with one session."""

    joins = True

    def __init__(self, cues: Sequence[TimedMessage]) -> None:
        script = recorded(cues)
        self._claude = ClaudeTurnWriter(script.started, script.own, script.session_id)
        super().__init__(script, self._claude)

    def answer(self, request_id: str, request: Line) -> bool:
        subtype = as_str(request.get("subtype")) or ""
        if subtype in _DONE:
            self._answer(request_id, {})
            return True
        answer = _CALLS.get(subtype)
        if answer is not None:
            answer(self, request_id, request)
        return answer is not None

    def refusal(self, subtype: str) -> Line:
        why = f"Unsupported control request subtype: {subtype}"
        return {"error": why, "error_code": "unsupported_request"}

    def report(self, uuid: str, state: str) -> None:
        self._send({"type": "command_lifecycle", "command_uuid": uuid, "state": state})

    def result_of(self, line: Line, answered: list[str]) -> Line:
        return {**line, "user_message_uuids": answered}

    def withdraw(self, request_id: str | None) -> None:
        if request_id is not None:
            self._send({"type": "control_cancel_request", "request_id": request_id})

    # Control requests.

    def _initialize(self, request_id: str, request: Line) -> None:
        model = self._script.started.model or "recorded"
        self._answer(
            request_id,
            {
                "commands": [],
                "agents": [],
                "models": [{"value": model, "displayName": model, "description": "recorded"}],
                "account": {"tokenSource": "recording", "apiProvider": "firstParty"},
                "claude_code_version": self._claude.init()["claude_code_version"] or RELEASE,
                "current_permission_mode": self._claude.mode,
            },
        )

    def _set_mode(self, request_id: str, request: Line) -> None:
        mode = as_str(request.get("mode")) or ""
        if mode not in _MODES:
            why = f"Cannot set permission mode: must be one of {', '.join(_MODES)}"
            self._refuse(request_id, why)
            return
        changed, self._claude.mode = mode != self._claude.mode, mode
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
            self.report(uuid, "cancelled")
        self._answer(request_id, {"cancelled": found, "message_uuid": uuid})

    def _interrupt(self, request_id: str, request: Line) -> None:
        self._answer(request_id, {"still_queued": list(self._queue)})
        self._stop(self._next_at)


_Call: TypeAlias = Callable[[ClaudeServer, str, Line], None]
_CALLS: Final[dict[str, _Call]] = {
    "initialize": ClaudeServer._initialize,
    "set_permission_mode": ClaudeServer._set_mode,
    "set_model": ClaudeServer._set_model,
    "rename_session": ClaudeServer._rename,
    "mcp_status": ClaudeServer._servers,
    "get_usage": ClaudeServer._usage,
    "cancel_async_message": ClaudeServer._cancel,
    "interrupt": ClaudeServer._interrupt,
}
