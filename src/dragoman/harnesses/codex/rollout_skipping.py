"""Skipping rows that cannot make what the caller wants, by a look at their first bytes.

Codex writes ``{"timestamp":"…","type":"event_msg","payload":{"type":"token_count",…``: the payload's
type is where it always is, so a row can be judged without decoding it. A row that does not look
exactly so is never skipped. A table says which payload types each message type needs: its own, and
those that set what the message is stamped with.
"""

from __future__ import annotations

from typing import Final

_MARK: Final = b'"payload":{"type":"'
_ITEM: Final = b'"item":{"type":"'

_TURNS: Final = (
    b"task_started",
    b"turn_started",
    b"task_complete",
    b"turn_complete",
    b"turn_aborted",
)
_PROMPTS: Final = (b"user_message", b"message")
_NEEDS: Final[dict[str, tuple[bytes, ...]]] = {
    "usage": (*_TURNS, b"user_message", b"token_count"),
    "rate_limits": (*_TURNS, b"user_message", b"token_count"),
    "prompt": (*_TURNS, *_PROMPTS, b"item_completed"),
    "text": (*_TURNS, *_PROMPTS, b"item_completed", b"agent_message", b"exited_review_mode"),
    "turn_started": (*_TURNS, b"user_message"),
}
_ITEMS: Final = (b"UserMessage", b"AgentMessage", b"ExitedReviewMode", b"EnteredReviewMode")


class Skipper:
    """Judges rows for one set of wanted message types."""

    __slots__ = ("_wanted",)

    def __init__(self, wanted: frozenset[bytes]) -> None:
        self._wanted = tuple(name + b'"' for name in sorted(wanted))

    @classmethod
    def for_types(cls, only: frozenset[str] | None) -> Skipper | None:
        """The skipper for these message types; None if any of them may need every row."""
        if not only or not only <= _NEEDS.keys():
            return None
        return cls(frozenset(name for kind in only for name in _NEEDS[kind]))

    def can_skip(self, line: bytes) -> bool:
        start = line.find(_MARK, 30, 130)
        if start < 0:
            return False
        start += 19
        if line.startswith(self._wanted, start):
            if not line.startswith(b"item_completed", start):
                return False
            item = line.find(_ITEM, start, start + 300)
            return item >= 0 and not line.startswith(_ITEMS, item + 16)
        # A name spelled with escapes would not be found above.
        return line.find(b"\\", start, line.find(b'"', start)) < 0
