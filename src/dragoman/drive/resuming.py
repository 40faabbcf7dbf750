"""Carries the sessions of an agent over to the process that took the place of a lost one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from dragoman.errors import (
    AgentError,
    DragomanError,
    ProcessExited,
    ResponseError,
    Unsupported,
)
from dragoman.model.messages import Notice

if TYPE_CHECKING:
    from dragoman.drive.agent import Agent
    from dragoman.drive.exchange import Exchange
    from dragoman.drive.session import Session

_IN_MEMORY = "the session was in the memory of a process that is gone"


async def resume_all(agent: Agent, exchange: Exchange) -> None:
    """Resume every session on the new process.

    One that the harness refuses to resume is lost, and whoever asks it anything is told why; the
    others go on. One that was never asked anything has left no trace, and is begun anew.
    """
    for session in agent.sessions:
        if session.opening.ephemeral and session.was_asked:
            _lose(agent, session, ProcessExited(_IN_MEMORY))
            continue
        opening = session.opening
        if session.was_asked or opening.resume:
            opening = msgspec.structs.replace(opening, resume=session.id, fork=None)
        try:
            facts = await exchange.ask(opening, seconds=agent.timeouts.read)
        except (ResponseError, Unsupported) as refused:
            _lose(agent, session, refused)
        else:
            session.renewed(facts)
            agent.know(facts.session_id, session)


def _lose(agent: Agent, session: Session, why: DragomanError) -> None:
    session.lost = why
    agent.forget(session)
    text = f"a session could not be resumed after a restart: {why}"
    agent.tell([Notice(session_id=session.id, level="error", text=text)])


def given_up(why: DragomanError | None, restarts: int) -> DragomanError | None:
    """The error for whoever wants something of an agent that was started again in vain."""
    if why is None or not restarts:
        return why
    times = "once" if restarts == 1 else f"{restarts} times"
    return ProcessExited(
        f"the agent was started again {times} and did not stay: "
        f"{why.message if isinstance(why, AgentError) else why}",
        exit_code=why.exit_code if isinstance(why, ProcessExited) else None,
        stderr=why.stderr if isinstance(why, AgentError) else "",
    )
