"""Skipping rows that cannot make what the caller wants, by a look at their first bytes.

Codex writes ``{"timestamp":"…","type":"event_msg","payload":{"type":"token_count",…``: the payload's
type is where it always is, so a row can be judged without decoding it. A row that does not look
exactly so, or whose type we do not know, is never skipped. A table says which payload types each
message type needs: its own, and those that set what the message is stamped with.

Many rows in one piece are not even cut apart: the first bytes of nearly every row are among a few
that were seen before, in the place where the row before had them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

import msgspec

from dragoman.harnesses.codex.event_shape import Event, tag_of, tagged
from dragoman.harnesses.codex.response_messages import ResponseMessages
from dragoman.harnesses.codex.response_shapes import ResponseItem
from dragoman.harnesses.telling.output import Output
from dragoman.harnesses.telling.teller import Teller

_MARK: Final = b'","payload":{"type":"'
_ITEM: Final = b'"item":{"type":"'
_TYPE: Final = b'"type":"'
_ROWS: Final = (b"event_msg", b"response_item")
_HEAD: Final = 40
"""As many bytes as are in ``response_item","payload":{"type":"message``."""
_RECORD: Final = b'token_usage_record","payload":{"thread_id"'[:_HEAD]
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


@cache
def _heads(skipped: frozenset[bytes]) -> tuple[frozenset[bytes], frozenset[bytes]]:
    """How rows go on after ``"type":"`` that can be skipped, and that cannot, whatever follows."""
    others = (_tags(Event) | _tags(ResponseItem)) - skipped - {b"message", b"item_completed"}
    unclear = _begun({b"message", b"item_completed"} - skipped)
    can, cannot = _begun(skipped), _begun(others) | {_RECORD}
    return can - cannot - unclear, cannot - can - unclear


def _begun(names: frozenset[bytes] | set[bytes]) -> frozenset[bytes]:
    return frozenset((row + _MARK + name + b'"')[:_HEAD] for name in names for row in _ROWS)


class Skipper:
    """Judges rows for one set of wanted message types."""

    __slots__ = ("_at", "_heads", "_messages_tell_place", "_needed", "_skipped", "only_usage")

    def __init__(self, only: frozenset[str]) -> None:
        self._skipped = _skipped(only)
        self._messages_tell_place = "session_started" in only and b"message" in self._skipped
        if self._messages_tell_place:
            self._skipped -= {b"message"}
        self._heads, self._needed = _heads(self._skipped)
        self._at = 0
        """Where in a row its type stands; it moves when ordinals get another digit."""
        self.only_usage = "rate_limits" not in only
        """Whether a token count can tell nothing but tokens."""

    @classmethod
    def for_types(cls, only: frozenset[str] | None) -> Skipper | None:
        """The skipper for these message types; None if any of them may need every row."""
        return cls(only) if only and only <= _NEEDS.keys() else None

    def skip_token_counts(self) -> None:
        """Tokens are told by other rows: a token count has nothing to say of them."""
        self._skip(b"token_count")

    def skip_messages(self) -> None:
        """The directory is known: a message has nothing to say of it."""
        if self._messages_tell_place:
            self._messages_tell_place = False
            self._skip(b"message")

    def skip_prompts(self) -> None:
        """Turns are told by rows of their own: a prompt does not begin one."""
        self._skip(b"user_message")

    def _skip(self, name: bytes) -> None:
        self._skipped |= {name}
        self._heads, self._needed = _heads(self._skipped)

    def can_skip(self, line: bytes) -> bool:
        return self._can_skip(line, 0, len(line))

    def _can_skip(self, block: bytes, row: int, end: int) -> bool:
        """Whether the row that stands here in a block can be skipped."""
        kind = block.find(_TYPE, row + 30, min(row + 80, end)) + len(_TYPE)
        if kind < len(_TYPE):
            return False
        self._at = kind - row
        start = block.find(_MARK, kind, min(row + 130, end))
        if start < 0:
            return block.startswith(_BULKY, kind)
        start += len(_MARK)
        name = block[start : block.find(b'"', start, end)]
        if name in self._skipped:
            return True
        if name == b"message":
            # Where the header does not say it, an injected message tells the directory.
            return self._messages_tell_place and all(
                block.find(word, start, end) < 0 for word in _PLACE
            )
        if name != b"item_completed":
            return False
        item = block.find(_ITEM, start, min(start + 300, end))
        return item >= 0 and not block.startswith(_ITEMS, item + len(_ITEM))

    def skip(self, block: bytes, row: int, last: int) -> tuple[int, int, int]:
        """Where in a block the next row that must be decoded begins and ends; how many lie before."""
        find, heads, at = block.find, self._heads, self._at
        end = find(b"\n", row, last) + 1 or last
        count = 0
        while True:
            head = block[row + at : row + at + _HEAD]
            if head not in heads or end <= row + at:
                if head in self._needed or not self._can_skip(block, row, end):
                    return row, end, count
                at = self._at
            count += 1
            row, end = end, find(b"\n", end, last) + 1 or last

    def rows(
        self,
        block: bytes,
        row: int,
        last: int,
        out: Output,
        teller: Teller,
        responses: ResponseMessages,
    ) -> Iterator[bytes]:
        """The rows of a block that must be decoded; the others are only counted.

        What may be skipped depends on what the rows before have said: it is looked at for each
        row anew, after the one before has been told.
        """
        while row < last:
            if (
                teller.in_turn  # or this row begins one
                and responses.held_text is None  # or this row decides how that one is told
                and not responses.announced
                and not teller.is_copying
            ):
                if self._messages_tell_place and teller.cwd and responses.others_speak:
                    self.skip_messages()
                row, end, skipped = self.skip(block, row, last)
                out.line += skipped
                if row >= last:
                    return
            else:
                end = block.find(b"\n", row, last) + 1 or last
            yield block[row:end]
            row = end
