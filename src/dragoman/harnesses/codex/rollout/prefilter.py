"""Skipping rows that cannot make what the caller wants, by a look at their first bytes.

Codex writes ``{"timestamp":"…","type":"event_msg","payload":{"type":"token_count",…``: the payload's
type is where it always is, so a row can be judged without decoding it. A row that does not look
exactly so, or whose type we do not know, is never skipped. A table lists which payload types each
message type needs: its own, and those that set what the message is stamped with.

The type of nearly every row is where it was in the row before, followed by one of a few texts: to
look there first is quicker than to look for it. (A new type whose name begins like a long one that we know
is then skipped as well; its messages cannot be selected here.)
"""

from __future__ import annotations

from functools import cache
from typing import Final

import msgspec

from dragoman.harnesses.codex.events.shape import Event, tag_of, tagged
from dragoman.harnesses.codex.responses.shapes import ResponseItem

_MARK: Final = b'","payload":{"type":"'
_ITEM: Final = b'"item":{"type":"'
_TYPE: Final = b'"type":"'
_ROWS: Final = (b"event_msg", b"response_item")
HEAD: Final = 40
"""As many bytes as are in ``response_item","payload":{"type":"message``."""
_MOST_KEPT: Final = 64
"""How many beginnings of wanted rows are remembered."""
_BULKY: Final = (b'world_state"', b'compacted"')
"""Long rows that neither emit nor stamp anything that can be selected here."""
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
"""One of these is in every message that contains a directory, however it is escaped."""


def _tags(shape: type[msgspec.Struct]) -> set[bytes]:
    return {tag_of(one).encode() for one in tagged(shape)}


@cache
def _skipped(only: frozenset[str]) -> frozenset[bytes]:
    """What rows are about that cannot make, or stamp, a message of these types."""
    wanted = _TURNS.union(*(_NEEDS[kind] for kind in only))
    return frozenset(_tags(Event) | _tags(ResponseItem)) - wanted


@cache
def _heads(skipped: frozenset[bytes]) -> frozenset[bytes]:
    """The text after ``"type":"`` in rows that can be skipped whatever follows."""
    return _begun(skipped) - _begun((_tags(Event) | _tags(ResponseItem)) - skipped)


def _begun(names: frozenset[bytes] | set[bytes]) -> frozenset[bytes]:
    return frozenset((row + _MARK + name + b'"')[:HEAD] for name in names for row in _ROWS)


class Skipper:
    """Judges rows for one set of wanted message types."""

    __slots__ = ("_messages_tell_place", "_skipped", "heads", "kept", "only_usage", "place")

    def __init__(self, only: frozenset[str]) -> None:
        self._skipped = _skipped(only)
        self._messages_tell_place = "session_started" in only and b"message" in self._skipped
        if self._messages_tell_place:
            self._skipped -= {b"message"}
        self.heads = _heads(self._skipped)
        """The text that, at its place, marks a row that can be skipped."""
        self.kept: set[bytes] = set()
        """The text that, at its place, marks a wanted row: it is decoded without a closer look."""
        self.place = slice(0, 0)
        """Where that stands: it moves when ordinals get another digit."""
        self.only_usage = "rate_limits" not in only
        """Whether a token count can contain nothing but tokens."""

    @classmethod
    def for_types(cls, only: frozenset[str] | None) -> Skipper | None:
        """The skipper for these message types; None if any of them may need every row."""
        return cls(only) if only and only <= _NEEDS.keys() else None

    def skip_token_counts(self) -> None:
        """Tokens are reported by other rows: a token count adds none."""
        self._skip(b"token_count")

    def skip_messages(self) -> None:
        """The directory is known: a message cannot change it."""
        self._messages_tell_place = False
        self._skip(b"message")

    def skip_prompts(self) -> None:
        """Turns are reported by rows of their own: a prompt does not begin one."""
        self._skip(b"user_message")

    def _skip(self, name: bytes) -> None:
        self._skipped |= {name}
        self.heads = _heads(self._skipped)
        self.kept.clear()

    def can_skip(self, line: bytes) -> bool:
        return line[self.place] in self.heads or self.can_skip_this(line)

    def can_skip_this(self, line: bytes) -> bool:
        """The same for a row that has no such head, and what there is to learn of the next."""
        kind = line.find(_TYPE, 30, 80) + len(_TYPE)
        if kind < len(_TYPE):
            return False
        self.place = slice(kind, kind + HEAD)
        start = line.find(_MARK, kind, 130)
        if start < 0:
            return line.startswith(_BULKY, kind) or self._keep(line)
        start += len(_MARK)
        name = line[start : line.find(b'"', start)]
        if name in self._skipped:
            return True
        if name == b"message":
            # Where the header does not contain it, an injected message has the directory.
            return self._messages_tell_place and not any(map(line.__contains__, _PLACE))
        if name != b"item_completed":
            return self._keep(line)
        item = line.find(_ITEM, start, start + 300)
        return item >= 0 and not line.startswith(_ITEMS, item + 16)

    def _keep(self, line: bytes) -> bool:
        """Note how rows like this one begin: a row that is kept too often only costs time."""
        if len(self.kept) < _MOST_KEPT:
            self.kept.add(line[self.place])
        return False
