"""``ui_telemetry`` rows: one for each request to the model and for each call, also for those in no row of their own.

Most repeat what another row says. What only they have is why a turn failed, how long a call took, and what the program
asks its model beside the conversation: what to remember, how to sum it up.
"""

from __future__ import annotations

from typing import Any, Final

from dragoman.harnesses.qwen.failures import request_error
from dragoman.harnesses.qwen.session import QwenSession
from dragoman.harnesses.qwen.usage import telemetry_usage
from dragoman.model.messages import TurnError
from dragoman.wire.loose import as_dict, as_int, as_number, as_str

_OWN_TURN: Final = "########"
"""Stands in the name of a prompt of the conversation itself, before its number."""
_OWN_AGENTS: Final = "managed-"
"""How the names of sub-agents begin that the program uses for itself: these have no file."""


class Telemetry:
    """What is known from such rows until other rows need it."""

    def __init__(self) -> None:
        self.durations: dict[str, int] = {}
        """How long calls took whose results are still to come."""
        self._errors: dict[str | None, TurnError] = {}
        """The newest request that failed, by its session."""
        self._whole: set[str | None] = set()
        """The sessions with a response that has come to its end and is in no row yet."""

    def report(self, session: QwenSession, payload: Any) -> bool:
        """Report a row; False if its kind is not known."""
        event = as_dict(as_dict(payload).get("uiEvent"))
        match as_str(event.get("event.name")):
            case "qwen-code.api_response":
                self._response(session, event)
            case "qwen-code.api_error":
                self._error(session, event)
            case "qwen-code.tool_call":
                took, call_id = as_number(event.get("duration_ms")), as_str(event.get("call_id"))
                if took is not None and took >= 0 and call_id is not None:
                    self.durations[call_id] = round(took)
                session.assembler.duplicate("telemetry: the call and its result have it")
            case str():
                session.assembler.duplicate("bookkeeping")
            case _:
                return False
        return True

    def answered(self, session: QwenSession) -> bool:
        """The model has answered, so what went wrong before did not last; whether it has come to its end."""
        self._errors.pop(session.session_id, None)
        is_whole = session.session_id in self._whole
        self._whole.discard(session.session_id)
        return is_whole

    def settle(self, session: QwenSession) -> None:
        """The turn is over: a request that failed last was its end."""
        error = self._errors.pop(session.session_id, None)
        if error is not None and session.assembler.in_turn:
            session.fail(error)

    def _response(self, session: QwenSession, event: dict[str, Any]) -> None:
        model = as_str(event.get("model"))
        usage = telemetry_usage(event)
        if _is_of_a_row(event) or not usage:
            self._whole.add(session.session_id)
            session.assembler.duplicate("telemetry: the response has it")
            return
        name = as_str(event.get("response_id"))
        session.assembler.usage_beside(usage, response_id=name, model=model)

    def _error(self, session: QwenSession, event: dict[str, Any]) -> None:
        text = as_str(event.get("error_message")) or "the request failed"
        if _is_of_a_row(event) and as_str(event.get("subagent_id")) is None:
            status = as_int(event.get("status_code"))
            self._errors[session.session_id] = request_error(text, status)
            session.assembler.duplicate("error: the turn's end carries it")
        else:
            session.assembler.notice("telemetry", "warning", text)


def _is_of_a_row(event: dict[str, Any]) -> bool:
    """Whether the request's answer is a row as well: of this file, or of a sub-agent's."""
    agent = as_str(event.get("subagent_id")) or as_str(event.get("subagent_name"))
    if agent is not None:
        return not agent.startswith(_OWN_AGENTS)
    return _OWN_TURN in (as_str(event.get("prompt_id")) or "")
