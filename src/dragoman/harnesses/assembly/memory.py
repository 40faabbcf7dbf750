"""What a teller remembers between two turns: little enough to be written down."""

from __future__ import annotations

import msgspec

from dragoman.harnesses.assembly.assembler import Teller
from dragoman.model.messages import PlanStep, RateWindow
from dragoman.model.usage import Usage

_TURNS_KEPT = 8


class Memory(msgspec.Struct, array_like=True):
    """Of one session. Grows only at its end, since it is kept on disk."""

    session_id: str | None
    facts: tuple[str | None, str | None, str | None, str | None] | None
    turns: int
    ended: list[str]
    """The last turns that are over: late words may name them."""
    calls: dict[str, int]
    """Of the turn before: late results may name them."""
    total: Usage | None
    says_ends: bool
    agent_spoke: bool
    is_resumed: bool
    context_window: int | None
    plan: tuple[list[PlanStep], str | None] | None
    windows: list[RateWindow]


def remember(teller: Teller) -> Memory:
    """What is to be known of a session that is between two turns."""
    return Memory(
        session_id=teller.session_id,
        facts=teller._facts,
        turns=teller._count,
        ended=list(teller._ended)[-_TURNS_KEPT:],
        calls=teller.calls.earlier(),
        total=teller._tally.total,
        says_ends=teller.says_ends,
        agent_spoke=teller.agent_spoke,
        is_resumed=teller.is_resumed,
        context_window=teller.context_window,
        plan=teller._plan,
        windows=teller._windows,
    )


def recall(teller: Teller, memory: Memory) -> None:
    """Make a new teller know what another one remembered."""
    teller.session_id = memory.session_id
    teller._facts = memory.facts
    teller._count = memory.turns
    teller._ended = dict.fromkeys(memory.ended)
    teller.calls.know(memory.calls)
    teller._tally.start_at(memory.total)
    teller.says_ends = memory.says_ends
    teller.agent_spoke = memory.agent_spoke
    teller.is_resumed = memory.is_resumed
    teller.context_window = memory.context_window
    teller._plan = memory.plan
    teller._windows = memory.windows
