"""What ``stream_event`` lines say: pieces of a text or a thought, and what the program reports of itself.

A response has no name here: each of its parts becomes a message of its own, and only the first is announced. So the
pieces of a text are named after the line that announces it, and the text itself has that name, too.
"""

from __future__ import annotations

from typing import Any, Final

from dragoman.harnesses.qwen.session import QwenSession
from dragoman.harnesses.stream_json.partials import Partials
from dragoman.wire.loose import as_dict, as_str

_STATES: Final = frozenset(("goal_state", "tool_progress"))


class QwenPartials(Partials[QwenSession]):
    """The text that is being said, of one session at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.line: str | None = None
        """The id of the line being read."""
        self._texts: dict[str | None, str | None] = {}

    def report(self, session: QwenSession, event: dict[str, Any]) -> bool:
        kind = as_str(event.get("type")) or ""
        if kind in _STATES:
            session.assembler.duplicate(f"state: {kind.replace('_', ' ')}")
            return True
        return super().report(session, event)

    def begin(self, session: QwenSession, message: dict[str, Any]) -> None:
        session.assembler.duplicate("message: its blocks carry it")

    def begin_block(self, session: QwenSession, block: dict[str, Any]) -> None:
        super().begin_block(session, block)
        if as_dict(block).get("type") == "text":
            self.responses[session.session_id] = self._texts[session.session_id] = self.line

    def name_of_text(self, session: QwenSession) -> str | None:
        """The name of the text that was in pieces and is now there as a whole."""
        self.responses.pop(session.session_id, None)
        return self._texts.pop(session.session_id, None)
