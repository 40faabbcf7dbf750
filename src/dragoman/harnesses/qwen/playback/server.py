"""Playing ``qwen --input-format stream-json``.

| the host sends | and gets |
|---|---|
| initialize, set_permission_mode, set_model … | an answer, as from the real program |
| a prompt while a turn runs | it becomes the next turn |
| any other control request | a refusal, in the words of the real program |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dragoman.harnesses.contract.playback import TimedMessage
from dragoman.harnesses.qwen.playback.turns import QwenTurnWriter
from dragoman.harnesses.stream_json.playback.recorded import recorded
from dragoman.harnesses.stream_json.playback.server import StreamJsonServer
from dragoman.harnesses.stream_json.playback.steps import Line
from dragoman.wire.loose import as_str

_MODES: Final = ("plan", "default", "auto-edit", "auto", "yolo")
_CAPABILITIES: Final = {
    "can_handle_can_use_tool": True,
    "can_handle_hook_callback": False,
    "can_set_permission_mode": True,
    "can_set_model": True,
    "can_set_effort": True,
    "can_get_available_models": True,
    "can_handle_mcp_message": True,
}


class QwenServer(StreamJsonServer):
    """One process with one session."""

    def __init__(self, cues: Sequence[TimedMessage]) -> None:
        script = recorded(cues)
        self._qwen = QwenTurnWriter(script.started, script.own, script.session_id)
        super().__init__(script, self._qwen)

    def answer(self, request_id: str, request: Line) -> bool:
        subtype = as_str(request.get("subtype")) or ""
        match subtype:
            case "initialize":
                more: Line = {"session_id": self._session_id, "capabilities": _CAPABILITIES}
            case "set_permission_mode":
                self._set_mode(request_id, as_str(request.get("mode")) or "")
                return True
            case "set_model":
                more = {"model": request.get("model")}
            case "set_effort":
                more = {"effort": request.get("effort"), "applied": True, "override": None}
            case "get_available_models":
                model = self._script.started.model or "recorded"
                more = {"models": [{"id": model, "label": model}]}
            case "mcp_server_status":
                more = {"status": {}}
            case "supported_commands":
                more = {"commands": []}
            case "interrupt":
                self._answer(request_id, {"subtype": subtype})
                self._stop(self._next_at)
                return True
            case _:
                return False
        self._answer(request_id, {"subtype": subtype, **more})
        return True

    def refusal(self, subtype: str) -> Line:
        return {"error": f"Unknown control request subtype: {subtype}"}

    def _set_mode(self, request_id: str, mode: str) -> None:
        if mode not in _MODES:
            why = f"Invalid permission mode: {mode}. Valid values are: {', '.join(_MODES)}"
            self._refuse(request_id, why)
            return
        self._qwen.mode = mode
        self._answer(request_id, {"status": "updated", "mode": mode})
