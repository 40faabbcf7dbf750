"""Skipping rows that cannot make what the caller wants, by a look at their first bytes.

Codex writes ``{"timestamp":"…","type":"event_msg","payload":{"type":"token_count",…``: the payload's
type is where it always is, so a row can be judged without decoding it. A row that does not look
exactly so, or whose type we do not know, is never skipped. A table says which payload types each
message type needs: its own, and those that set what the message is stamped with.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import msgspec

from dragoman.harnesses.codex.event_shape import Event, tag_of, tagged
from dragoman.harnesses.codex.response_shapes import ResponseItem

_MARK: Final = b'"payload":{"type":"'
_ITEM: Final = b'"item":{"type":"'
_TYPE: Final = b'"type":"'
_BULKY: Final = (b'world_state"', b'compacted"')
"""Long rows that make and stamp nothing of what can be chosen here."""
_TURNS: Final = frozenset(
    (
        b"task_started",
        b"turn_started",
        b"task_complete",
        b"turn_complete",
        b"turn_aborted",
        b"user_message",
        b"entered_review_mode",
        b"exited_review_mode",
    )
)
_NEEDS: Final[dict[str, frozenset[bytes]]] = {
    "usage": frozenset((b"token_count",)),
    "rate_limits": frozenset((b"token_count",)),
    "prompt": frozenset((b"message", b"item_completed")),
    "text": frozenset((b"message", b"item_completed", b"agent_message")),
    "turn_started": frozenset(),
    "session_started": frozenset((b"session_configured", b"thread_settings_applied")),
}
_ITEMS: Final = (b"UserMessage", b"AgentMessage", b"ExitedReviewMode", b"EnteredReviewMode")
_PLACE: Final = (b"cwd", b"directory", b"\\u00")
"""One of these is in every message that tells a directory, however it is escaped."""


def _tags(shape: type[msgspec.Struct]) -> set[bytes]:
    return {tag_of(one).encode() for one in tagged(shape)}


@cache
def _skipped(only: frozenset[str]) -> frozenset[bytes]:
    """What rows are about that cannot make, or stamp, a message of these types."""
    wanted = _TURNS.union(*(_NEEDS[kind] for kind in only))
    return frozenset(_tags(Event) | _tags(ResponseItem)) - wanted


class Skipper:
    """Judges rows for one set of wanted message types."""

    __slots__ = ("_messages_tell_place", "_skipped", "only_usage")

    def __init__(self, only: frozenset[str]) -> None:
        self._skipped = _skipped(only)
        self._messages_tell_place = "session_started" in only and b"message" in self._skipped
        if self._messages_tell_place:
            self._skipped -= {b"message"}
        self.only_usage = "rate_limits" not in only
        """Whether a token count can tell nothing but tokens."""

    @classmethod
    def for_types(cls, only: frozenset[str] | None) -> Skipper | None:
        """The skipper for these message types; None if any of them may need every row."""
        return cls(only) if only and only <= _NEEDS.keys() else None

    def skip_token_counts(self) -> None:
        """Tokens are told by other rows: a token count has nothing to say of them."""
        self._skipped |= {b"token_count"}

    def can_skip(self, line: bytes) -> bool:
        start = line.find(_MARK, 30, 130)
        if start < 0:
            kind = line.find(_TYPE, 30, 80)
            return kind >= 0 and line.startswith(_BULKY, kind + 8)
        start += 19
        name = line[start : line.find(b'"', start)]
        if name in self._skipped:
            return True
        if name == b"message":
            # Where the header does not say it, an injected message tells the directory.
            return self._messages_tell_place and not any(map(line.__contains__, _PLACE))
        if name != b"item_completed":
            return False
        item = line.find(_ITEM, start, start + 300)
        return item >= 0 and not line.startswith(_ITEMS, item + 16)
