"""A recording as turns to play."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dragoman.harnesses.contract.playback import TimedMessage
from dragoman.harnesses.copilot.playback.events import made_up_id
from dragoman.model.messages import SessionStarted, TurnEnded, TurnStarted


class RecordedRun(NamedTuple):
    """The session that a recording begins with; its sub-agents play in its turns."""

    started: SessionStarted
    own: str | None
    session_id: str
    turns: list[list[TimedMessage]]


def run_in(cues: Iterable[TimedMessage]) -> RecordedRun:
    cues = list(cues)
    starts = [cue.message for cue in cues if isinstance(cue.message, SessionStarted)]
    turns = [cue.message for cue in cues if isinstance(cue.message, TurnStarted)]
    first = next(iter((*starts, *turns)), None)
    own = first.session_id if first is not None else None
    started = starts[0] if starts else SessionStarted(harness="copilot")
    return RecordedRun(started, own, own or made_up_id(0), _turns(cues, own))


def _turns(cues: Sequence[TimedMessage], own: str | None) -> list[list[TimedMessage]]:
    turns: list[list[TimedMessage]] = []
    for cue in cues:
        if isinstance(cue.message, TurnStarted) and cue.message.session_id == own:
            turns.append([TimedMessage(0.0, cue.message)])
        elif turns:
            turns[-1].append(cue)
    for turn in turns:
        if not any(_is_end(cue, own) for cue in turn):
            turn.append(TimedMessage(0.0, TurnEnded(session_id=own, outcome="interrupted")))
    return turns


def _is_end(cue: TimedMessage, own: str | None) -> bool:
    return isinstance(cue.message, TurnEnded) and cue.message.session_id == own
