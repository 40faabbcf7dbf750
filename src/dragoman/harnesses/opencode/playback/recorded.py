"""A recording as turns to play."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from dragoman.harnesses.contract.playback import TimedMessage
from dragoman.model.messages import SessionStarted, TurnEnded, TurnStarted


class OpencodeTurns(NamedTuple):
    """The session that a recording begins with; its sub-agents play in its turns."""

    started: SessionStarted
    own: str | None
    turns: list[list[TimedMessage]]
    agents: dict[str, str]
    """The sessions of sub-agents, by the calls that started them."""


def turns_in(cues: Iterable[TimedMessage]) -> OpencodeTurns:
    cues = list(cues)
    starts = [cue.message for cue in cues if isinstance(cue.message, SessionStarted)]
    turns = [cue.message for cue in cues if isinstance(cue.message, TurnStarted)]
    first = next(iter((*starts, *turns)), None)
    own = first.session_id if first is not None else None
    agents = {
        each.parent_call_id: each.session_id
        for each in starts
        if each.parent_call_id is not None and each.session_id is not None
    }
    started = starts[0] if starts else SessionStarted(harness="opencode")
    own_starts = [each for each in starts if each.session_id == own]
    model = next((each.model for each in own_starts if each.model is not None), None)
    started = msgspec.structs.replace(started, model=model)
    return OpencodeTurns(started, own, _turns(cues, own), agents)


def _turns(cues: Sequence[TimedMessage], own: str | None) -> list[list[TimedMessage]]:
    turns: list[list[TimedMessage]] = []
    for cue in cues:
        if isinstance(cue.message, TurnStarted) and cue.message.session_id == own:
            turns.append([TimedMessage(0.0, cue.message)])
        elif turns:
            turns[-1].append(cue)
    for turn in turns:
        if not any(
            isinstance(cue.message, TurnEnded) and cue.message.session_id == own for cue in turn
        ):
            turn.append(TimedMessage(0.0, TurnEnded(session_id=own, outcome="interrupted")))
    return turns
