"""What ``stream_event`` lines say about a response besides its pieces: its tokens, and why it ended."""

from __future__ import annotations

from typing import Any

from dragoman.harnesses.claude.session import ClaudeSession
from dragoman.harnesses.claude.usage import usage_of
from dragoman.harnesses.stream_json.partials import Partials
from dragoman.wire.loose import as_dict, as_str


class ClaudePartials(Partials[ClaudeSession]):
    """The response that is being made, of one session at a time."""

    def __init__(self) -> None:
        super().__init__()
        self._models: dict[str | None, str | None] = {}

    def begin(self, session: ClaudeSession, message: dict[str, Any]) -> None:
        super().begin(session, message)
        response_id, model = as_str(message.get("id")), as_str(message.get("model"))
        self._models[response_id] = model
        session.spending.see(response_id, usage_of(message.get("usage")), model, is_final=False)

    def end(self, session: ClaudeSession, event: dict[str, Any]) -> None:
        response_id = self.responses.get(session.session_id)
        reason = as_str(as_dict(event.get("delta")).get("stop_reason"))
        session.stop_reason = reason or session.stop_reason
        model, usage = self._models.pop(response_id, None), usage_of(event.get("usage"))
        if not session.spending.see(response_id, usage, model, is_final=True):
            super().end(session, event)
