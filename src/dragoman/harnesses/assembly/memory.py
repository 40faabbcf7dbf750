"""What a session needs to remember between two turns, small enough to store in a file's marks."""

from __future__ import annotations

import msgspec

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.facts import KnownFacts
from dragoman.model.messages import PlanStep, RateWindow
from dragoman.model.usage import Usage

_TURNS_KEPT = 8


class Memory(msgspec.Struct, array_like=True):
    """The memory of one session. Fields are only added at the end, because marks are kept on disk."""

    session_id: str | None
    facts: KnownFacts | None
    turns: int
    ended: list[str]
    """The turns that ended last: late lines may name them."""
    calls: dict[str, int]
    """The calls of the previous turn: late results may name them."""
    total: Usage | None
    says_ends: bool
    agent_spoke: bool
    is_resumed: bool
    context_window: int | None
    plan: tuple[list[PlanStep], str | None] | None
    windows: list[RateWindow]


def remember(session: SessionAssembler) -> Memory:
    """The memory of a session that is between two turns."""
    return Memory(
        session_id=session.session_id,
        facts=session.facts,
        turns=session.turns.count,
        ended=session.turns.recent(_TURNS_KEPT),
        calls=session.calls.earlier(),
        total=session.spending.counter.total,
        says_ends=session.says_ends,
        agent_spoke=session.agent_spoke,
        is_resumed=session.is_resumed,
        context_window=session.context_window,
        plan=session.latest.plan,
        windows=session.latest.windows,
    )


def recall(session: SessionAssembler, memory: Memory) -> None:
    """Continue a session, in a new assembler, from what another one remembered."""
    session.session_id = memory.session_id
    session.facts = memory.facts
    session.turns.restore(memory.turns, memory.ended)
    session.calls.restore(memory.calls)
    session.spending.counter.start_at(memory.total)
    session.says_ends = memory.says_ends
    session.agent_spoke = memory.agent_spoke
    session.is_resumed = memory.is_resumed
    session.context_window = memory.context_window
    session.latest.plan = memory.plan
    session.latest.windows = memory.windows
