"""Watching over the turns of an agent: a turn that is silent for too long is looked into, or ended."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from dragoman.drive.process.descendants import name_processes
from dragoman.drive.timeouts import judge
from dragoman.drive.turns.stopping import stop_in_the_end
from dragoman.errors import AgentError, ResponseTimeout, Unsupported, UsageError
from dragoman.model.intents import CheckTurn
from dragoman.model.messages import TurnError

if TYPE_CHECKING:
    from dragoman.drive.agent import Agent
    from dragoman.drive.session import Session
    from dragoman.drive.turns.running import RunningTurn

_TICK = 0.5


async def watch(agent: Agent) -> None:
    """Look at every turn twice a second, until cancelled."""
    loop, limits = asyncio.get_running_loop(), agent.timeouts
    async with asyncio.TaskGroup() as checks:
        while True:
            await asyncio.sleep(_TICK)
            now = loop.time()
            for worker in agent.workers:
                unstopped, worker.unstopped = worker.unstopped, []
                if (exchange := worker.exchange) is not None:
                    for intent in unstopped:
                        again = stop_in_the_end(exchange, intent, seconds=limits.read)
                        checks.create_task(again)
            cut_off, agent.cut_off = agent.cut_off, []
            for session, turn in cut_off:
                checks.create_task(_stop_commands(session, turn))
            for session in agent.sessions:
                turn = session.turn
                if turn is None:
                    continue
                exchange = session.worker.exchange
                pulse = turn.fresh_pulse(gone=exchange is None or exchange.is_over)
                verdict = judge(pulse, limits, now)
                if verdict is not None and pulse.tools:
                    name_processes(pulse, session.worker.pid)
                    verdict = judge(pulse, limits, now)
                if verdict is not None:
                    error = TurnError(
                        kind=verdict.kind,
                        message=verdict.text,
                        retryable=True,
                        native=verdict.reason,
                    )
                    _give_up(session, turn, error)
                    checks.create_task(_stop_commands(session, turn))
                elif not pulse.tools and not pulse.asked and turn.id is not None:
                    silent_since = max(pulse.heard_at, turn.looked_at)
                    if now - silent_since > limits.check_after:
                        turn.looked_at = now
                        checks.create_task(_look_into(session, turn))


async def _look_into(session: Session, turn: RunningTurn) -> None:
    """Ask the server whether the turn is over and only its end got lost."""
    try:
        outcome = await session.worker.ask(CheckTurn(session_id=session.id, turn_id=turn.id))
    except ResponseTimeout:
        turn.pulse.deaf = True
    except (AgentError, UsageError):
        return  # the agent cannot answer; the stall timeout decides
    else:
        if outcome is not None and session.turn is turn:
            session.worker.end_turn(session, outcome)


async def _stop_commands(session: Session, turn: RunningTurn) -> None:
    """A turn that is given up leaves no command behind."""
    with suppress(AgentError, Unsupported):  # an agent elsewhere, which is gone or cannot do it
        await session.stop_commands(turn)


def _give_up(session: Session, turn: RunningTurn, error: TurnError) -> None:
    """End the turn as failed, here and, if it still listens, there."""
    session.worker.end_turn(session, "failed", error)
    session.worker.give_up(session, turn.id)
