"""Carries the sessions of a lost process over to the one that takes its place."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from dragoman.drive.opening import check_access
from dragoman.errors import (
    AgentError,
    AuthorityMismatch,
    DragomanError,
    ProcessExited,
    ResponseError,
    Unsupported,
)
from dragoman.model.messages import Notice

if TYPE_CHECKING:
    from dragoman.drive.agent import Agent
    from dragoman.drive.links.exchange import Exchange
    from dragoman.drive.session import Session
    from dragoman.drive.worker import Worker
    from dragoman.model.intents import OpenSession

_LONGEST_PAUSE = 90.0
_IN_MEMORY = "the session was in the memory of a process that is gone"


def reopening(session: Session) -> OpenSession:
    """How a session is opened on the next process.

    One without a turn has left nothing to resume, and starts again.
    """
    opening = session.opening
    if session.was_asked or opening.resume:
        return msgspec.structs.replace(opening, resume=session.id, fork=None)
    return opening


async def wait_to_resume(agent: Agent, opening: OpenSession | None) -> None:
    """Wait until a session can be resumed without damage, and say why. Bounded by the harness: a minute."""
    if opening is None or opening.resume is None:
        return
    seconds = min(agent.plan.resume_pause(opening.resume), _LONGEST_PAUSE)
    if seconds > 0:
        text = f"{agent.plan.resume_reason}: waiting {seconds:.0f} seconds"
        agent.publish([Notice(session_id=opening.resume, level="info", text=text)])
        await asyncio.sleep(seconds)


def lose_ephemeral(agent: Agent, worker: Worker) -> None:
    """Give up the sessions that were only in the memory of the lost process."""
    for session in worker.sessions:
        if session.opening.ephemeral and session.was_asked:
            _lose(agent, session, ProcessExited(_IN_MEMORY))


async def resume_all(agent: Agent, worker: Worker, exchange: Exchange) -> None:
    """Resume every session on the new process.

    A session that the harness refuses to resume is lost: its next request raises the reason. The others
    continue.
    """
    for session in worker.sessions:
        opening = worker.opening or reopening(session)
        try:
            facts = await exchange.ask(opening, seconds=agent.timeouts.read)
            check_access(agent.capabilities, opening, facts)
        except (AuthorityMismatch, ResponseError, Unsupported) as refused:
            _lose(agent, session, refused)
        else:
            session.renewed(facts)
            agent.know(facts.session_id, session)


def _lose(agent: Agent, session: Session, why: DragomanError) -> None:
    session.lost = why
    agent.forget(session)
    text = f"a session could not be resumed after a restart: {why}"
    agent.publish([Notice(session_id=session.id, level="error", text=text)])


def given_up(why: DragomanError | None, restarts: int) -> DragomanError | None:
    """The error for requests to an agent whose restarts have all failed."""
    if why is None or not restarts:
        return why
    times = "once" if restarts == 1 else f"{restarts} times"
    return ProcessExited(
        f"the agent was started again {times} and did not stay: "
        f"{why.message if isinstance(why, AgentError) else why}",
        exit_code=why.exit_code if isinstance(why, ProcessExited) else None,
        stderr=why.stderr if isinstance(why, AgentError) else "",
    )
