"""``stream_event``: the Messages API's own events, passed on while a response is being made."""

from __future__ import annotations

from typing import Any, Generic

from dragoman.harnesses.stream_json.sessions import S
from dragoman.wire.loose import as_dict, as_str

CHANNEL = "stream"


class Partials(Generic[S]):
    """The response that is being made, of one session at a time."""

    def __init__(self) -> None:
        self.responses: dict[str | None, str | None] = {}
        """The id of the open response of each session."""

    def report(self, session: S, event: dict[str, Any]) -> bool:
        """Report one event; False if its kind is not known."""
        assembler = session.assembler
        match event.get("type"):
            case "message_start":
                self.begin(session, as_dict(event.get("message")))
            case "content_block_start":
                self.begin_block(session, as_dict(event.get("content_block")))
            case "content_block_delta":
                return self._delta(session, as_dict(event.get("delta")))
            case "content_block_stop" | "ping":
                assembler.duplicate("content block: it came whole")
            case "message_delta":
                self.end(session, event)
            case "message_stop":
                self.responses.pop(session.session_id, None)
                assembler.duplicate("message: its blocks carry it")
            case "error":
                error = as_dict(event.get("error"))
                text = as_str(error.get("message")) or as_str(error.get("type")) or "stream error"
                assembler.notice(CHANNEL, "warning", text)
            case _:
                return False
        return True

    def begin(self, session: S, message: dict[str, Any]) -> None:
        """A response begins."""
        self.responses[session.session_id] = as_str(message.get("id"))
        session.assembler.duplicate("message: its blocks carry it")

    def begin_block(self, session: S, block: dict[str, Any]) -> None:
        """A part of the response begins."""
        session.assembler.duplicate("content block: it comes whole")

    def end(self, session: S, event: dict[str, Any]) -> None:
        """A response has come to its end, and what it cost is known."""
        session.assembler.duplicate("message: its blocks carry it")

    def _delta(self, session: S, delta: dict[str, Any]) -> bool:
        assembler = session.assembler
        match delta.get("type"):
            case "text_delta":
                session.ensure_turn()
                response_id = self.responses.get(session.session_id)
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
