"""Decide when each message of a recording is played: in real time, faster, or at once.

Times come from the messages. Messages without one get a readable pace, texts and thoughts without
deltas are split into some, within the pause before them, and long pauses are shortened. There is no
clock here: each item only says how long to wait.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

import msgspec

from dragoman.errors import UsageError
from dragoman.harnesses.contract.playback import TimedMessage
from dragoman.model.messages import (
    Delta,
    DeltaOf,
    Message,
    Prompt,
    SessionStarted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnStarted,
)

MAX_PAUSE_SECONDS: Final = 5.0
_UNTIMED_SECONDS: Final[dict[type, float]] = {
    Prompt: 0.3,
    Text: 0.5,
    Thinking: 0.5,
    ToolCall: 0.3,
    ToolResult: 0.6,
}
"""The pause before a message without a time."""
_DELTA_SECONDS: Final = 0.02
_CHARACTERS_PER_SECOND: Final = 320.0
_LONGEST_STREAM_SECONDS: Final = 4.0
_PIECE: Final = re.compile(r"\s*\S{1,24}\s*|\s+")


def timed_messages(
    messages: Iterable[Message],
    *,
    speed: float = 1.0,
    max_pause: float = MAX_PAUSE_SECONDS,
    stream: bool = True,
) -> Iterator[TimedMessage]:
    """Yield the messages with the pauses between them, ``speed`` times as fast; 0 means no pauses.

    ``max_pause`` limits each pause, in real time. With ``stream``, texts and thoughts whose source has
    no deltas get some.
    """
    pace = _Pace(speed, max_pause)
    streamed: set[tuple[str | None, DeltaOf]] = set()
    for number, message in enumerate(messages):
        pause = pace.before(message)
        if isinstance(message, Delta):
            streamed.add((message.session_id, message.of))
        elif stream and speed and isinstance(message, Text | Thinking):
            of: DeltaOf = "text" if isinstance(message, Text) else "thinking"
            if (message.session_id, of) in streamed:
                streamed.discard((message.session_id, of))
            else:
                message = _named(message, number)
                pieces = _pieces(message, of, number)
                seconds = min(len(message.text) / _CHARACTERS_PER_SECOND, _LONGEST_STREAM_SECONDS)
                each = seconds / speed / max(1, len(pieces))
                pause = max(0.0, pause - each * len(pieces))
                for delta in pieces:
                    yield TimedMessage(pause + each, delta)
                    pause = 0.0
        yield TimedMessage(pause, message)


class _Pace:
    """Computes the pause before each message."""

    def __init__(self, speed: float, max_pause: float) -> None:
        self._speed = speed
        self._max_pause = max_pause
        self._last: datetime | None = None

    def before(self, message: Message) -> float:
        if message.at is None:
            gap = _DELTA_SECONDS if isinstance(message, Delta) else _untimed(message)
        else:
            gap = (message.at - self._last).total_seconds() if self._last is not None else 0.0
            self._last = max(message.at, self._last) if self._last is not None else message.at
        return min(max(gap, 0.0) / self._speed, self._max_pause) if self._speed else 0.0


def _untimed(message: Message) -> float:
    if isinstance(message, ToolResult) and message.duration_ms is not None:
        return message.duration_ms / 1000
    return _UNTIMED_SECONDS.get(type(message), 0.0)


def _named(message: Text | Thinking, number: int) -> Text | Thinking:
    """Return the message with an id that its deltas can refer to."""
    if isinstance(message, Text) and message.message_id is None:
        return msgspec.structs.replace(message, message_id=f"text-{number}")
    return message


def _pieces(message: Text | Thinking, of: DeltaOf, number: int) -> list[Delta]:
    message_id = message.message_id if isinstance(message, Text) else f"thinking-{number}"
    return [
        Delta(
            session_id=message.session_id,
            turn_id=message.turn_id,
            at=message.at,
            line=message.line,
            of=of,
            message_id=message_id,
            text=piece,
        )
        for piece in _PIECE.findall(message.text)
    ]


def only_turn(messages: Iterable[Message], number: int) -> Iterator[Message]:
    """Yield the turn with this number, counted from 1, of the session the recording starts with.

    Raises ``UsageError`` if there are fewer turns.
    """
    own: str | None = None
    start: SessionStarted | None = None
    turns = 0
    for message in messages:
        if isinstance(message, SessionStarted) and (start is None or message.session_id == own):
            own, start = message.session_id, message
            if turns < number:
                continue
        if isinstance(message, TurnStarted) and message.session_id == own:
            turns += 1
            if turns > number:
                return
            if turns == number and start is not None:
                yield start
        if turns == number:
            yield message
    if turns < number:
        raise UsageError(f"no turn {number}: the session has {turns}")
