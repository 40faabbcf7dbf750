"""A recording as turns to play: what is known of its session, and its turns one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import NAMESPACE_URL, uuid5

from dragoman.harnesses.contract.playback import TimedMessage
from dragoman.model.messages import SessionStarted, TurnEnded, TurnStarted


@dataclass(frozen=True, slots=True)
class RecordedSession:
    """The session that a recording begins with; its helpers play in its turns."""

    started: SessionStarted
    own: str | None
    session_id: str
    turns: list[list[TimedMessage]]


def made_up_id(*parts: object) -> str:
    """An id for what the recording does not name: always the same for the same thing."""
    return str(uuid5(NAMESPACE_URL, "/".join(map(str, parts))))


def recorded(cues: Sequence[TimedMessage]) -> RecordedSession:
    starts = [cue.message for cue in cues if isinstance(cue.message, SessionStarted)]
    turns = [cue.message for cue in cues if isinstance(cue.message, TurnStarted)]
    first = next(iter((*starts, *turns)), None)
    own = first.session_id if first is not None else None
    started = starts[0] if starts else SessionStarted(harness="")
    return RecordedSession(started, own, own or made_up_id("recording"), _turns(cues, own))


def _turns(cues: Sequence[TimedMessage], own: str | None) -> list[list[TimedMessage]]:
    turns: list[list[TimedMessage]] = []
    for cue in cues:
        if isinstance(cue.message, TurnStarted) and cue.message.session_id == own:
            # The host's own prompt begins the turn, not the pause before the recorded one.
            turns.append([TimedMessage(0.0, cue.message)])
        elif turns:
            turns[-1].append(cue)
    return [_with_end(turn, own) for turn in turns]


def _with_end(turn: list[TimedMessage], own: str | None) -> list[TimedMessage]:
    """The turn, with an end if the recording has none."""
    ends = [cue for cue in turn if isinstance(cue.message, TurnEnded)]
    if any(cue.message.session_id == own for cue in ends):
        return turn
    return [*turn, TimedMessage(0.0, TurnEnded(session_id=own, outcome="interrupted"))]
