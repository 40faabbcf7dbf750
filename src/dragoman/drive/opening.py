"""Opening a session on a process of its own, and checking the access that the agent applies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from dragoman.errors import AuthorityMismatch, ProcessExited, ResponseError
from dragoman.harnesses.contract.capabilities import Capabilities, is_wider, level_of
from dragoman.model.intents import OpenSession, SessionFacts
from dragoman.model.messages import Notice

if TYPE_CHECKING:
    from dragoman.drive.agent import Agent
    from dragoman.drive.worker import Worker


def check_access(offered: Capabilities, opening: OpenSession, facts: SessionFacts) -> None:
    """Raise :class:`AuthorityMismatch` if the agent confirms more access than was requested."""
    requested = opening.access or opening.sandbox
    if facts.access is None or facts.access == requested:
        return
    if is_wider(level_of(offered, facts.access), level_of(offered, requested)):
        raise AuthorityMismatch(
            f"requested access {requested!r}, the agent applies {facts.access!r}"
        )


async def open_or_new(agent: Agent, opening: OpenSession) -> tuple[Worker, SessionFacts]:
    """A process for this session, with the session open on it.

    With ``or_new`` a session that cannot be resumed is replaced by a new one, and a notice says so.
    """
    try:
        return await _open(agent, opening)
    except (ResponseError, ProcessExited):
        if not opening.or_new or opening.resume is None:
            raise
    worker, facts = await _open(agent, msgspec.structs.replace(opening, resume=None))
    text = f"session {opening.resume} cannot be resumed; this is a new one"
    agent.publish([Notice(session_id=facts.session_id, level="warning", text=text)])
    return worker, facts


async def _open(agent: Agent, opening: OpenSession) -> tuple[Worker, SessionFacts]:
    worker = await agent.hire(opening)
    try:
        assert worker.opening is not None
        facts = await worker.ask(worker.opening)
    except BaseException:
        await agent.dismiss(worker)
        raise
    agent.keep(worker)
    return worker, facts
