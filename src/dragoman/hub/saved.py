"""Sessions that a harness keeps and the hub did not start: renamed, archived and forked by their ids.

None of this makes a session live; only a prompt does.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from dragoman.hub.agent import AgentConnections
from dragoman.hub.live.registry import LiveRegistry
from dragoman.hub.roots import inside
from dragoman.hub.sessions import SessionActions
from dragoman.hub.shapes import LiveSession
from dragoman.model.intents import Archive, Rename


class SavedSessionActions:
    """What the harness refuses is a :class:`~dragoman.errors.ResponseError` with its words."""

    def __init__(
        self,
        registry: LiveRegistry,
        agents: AgentConnections,
        sessions: SessionActions,
        roots: Sequence[Path],
    ) -> None:
        self._registry = registry
        self._agents = agents
        self._sessions = sessions
        self._roots = roots

    async def rename(self, session_id: str, name: str, *, harness: str | None = None) -> None:
        await (await self._agents.of(harness).get()).ask(Rename(session_id=session_id, name=name))

    async def archive(
        self, session_id: str, *, archived: bool = True, harness: str | None = None
    ) -> None:
        """Archive it, or bring it back."""
        await (await self._agents.of(harness).get()).ask(
            Archive(session_id=session_id, archived=archived)
        )

    async def fork(
        self,
        session_id: str,
        *,
        cwd: str | os.PathLike[str],
        title: str | None = None,
        harness: str | None = None,
    ) -> LiveSession:
        """A live session with the history of this one.

        It may do what a new one may: what the other was allowed is not known here.
        """
        path = inside(cwd, self._roots)
        live = await self._sessions.fork_saved(session_id, cwd=path, title=title, harness=harness)
        await self._registry.stored()
        return live.shown
