"""``stream_event``: the Messages API's own events, passed on while a response is being made."""

from __future__ import annotations

from typing import Any

from dragoman.harnesses.claude.session import ClaudeSession
from dragoman.harnesses.claude.usage import usage_of
from dragoman.wire.loose import as_dict, as_str

CHANNEL = "stream"


class Partials:
    """The response that is being made, of one session at a time."""

    def __init__(self) -> None:
        self._responses: dict[str | None, tuple[str | None, str | None]] = {}
        """The id and the model of the open response of each session."""

    def report(self, session: ClaudeSession, event: dict[str, Any]) -> bool:
        """Report one event; False if its kind is not known."""
        assembler = session.assembler
        match event.get("type"):
            case "message_start":
                self._start(session, as_dict(event.get("message")))
            case "content_block_start":
                assembler.duplicate("content block: it comes whole")
            case "content_block_delta":
                return self._delta(session, as_dict(event.get("delta")))
            case "content_block_stop" | "ping":
                assembler.duplicate("content block: it came whole")
            case "message_delta":
                self._end(session, event)
            case "message_stop":
                self._responses.pop(session.session_id, None)
                assembler.duplicate("message: its blocks carry it")
            case "error":
                error = as_dict(event.get("error"))
                text = as_str(error.get("message")) or as_str(error.get("type")) or "stream error"
                assembler.notice(CHANNEL, "warning", text)
            case _:
                return False
        return True

    def _start(self, session: ClaudeSession, message: dict[str, Any]) -> None:
        response_id, model = as_str(message.get("id")), as_str(message.get("model"))
        self._responses[session.session_id] = (response_id, model)
        session.spending.see(response_id, usage_of(message.get("usage")), model, is_final=False)
        session.assembler.duplicate("message: its blocks carry it")

    def _delta(self, session: ClaudeSession, delta: dict[str, Any]) -> bool:
        assembler = session.assembler
        response_id, _ = self._responses.get(session.session_id, (None, None))
        match delta.get("type"):
            case "text_delta":
                session.ensure_turn()
                assembler.delta(CHANNEL, "text", as_str(delta.get("text")) or "", response_id)
            case "thinking_delta":
                session.ensure_turn()
                assembler.delta(CHANNEL, "thinking", as_str(delta.get("thinking")) or "")
            case "input_json_delta":
                assembler.duplicate("tool input: the call has it whole")
            case "signature_delta":
                assembler.duplicate("signature: it proves a thought, and says nothing")
            case "citations_delta":
                assembler.duplicate("citation: the text has it")
            case _:
                return False
        return True

    def _end(self, session: ClaudeSession, event: dict[str, Any]) -> None:
        response_id, model = self._responses.get(session.session_id, (None, None))
        reason = as_str(as_dict(event.get("delta")).get("stop_reason"))
        session.stop_reason = reason or session.stop_reason
        usage = usage_of(event.get("usage"))
        if not session.spending.see(response_id, usage, model, is_final=True):
            session.assembler.duplicate("message: its blocks carry it")
