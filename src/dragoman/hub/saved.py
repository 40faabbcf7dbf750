"""Sessions that the harness keeps and the hub has not begun: named, put away and branched off by their ids.

None of this takes a session up: only what is said in it does that.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from dragoman.hub.agent import AgentHolder
from dragoman.hub.registry import Room
from dragoman.hub.roots import inside
from dragoman.hub.sessions import Sessions
from dragoman.hub.shapes import LiveSession
from dragoman.model.intents import Archive, Rename


class Saved:
    """What the harness refuses is a :class:`~dragoman.errors.ResponseError` with its words."""

    def __init__(
        self, room: Room, holder: AgentHolder, sessions: Sessions, roots: Sequence[Path]
    ) -> None:
        self._room = room
        self._holder = holder
        self._sessions = sessions
        self._roots = roots

    async def rename(self, session_id: str, name: str) -> None:
        await (await self._holder.get()).ask(Rename(session_id=session_id, name=name))

    async def archive(self, session_id: str, *, archived: bool = True) -> None:
        """Put it away, or bring it back."""
        await (await self._holder.get()).ask(Archive(session_id=session_id, archived=archived))

    async def fork(
        self, session_id: str, *, cwd: str | os.PathLike[str], title: str | None = None
    ) -> LiveSession:
        """A live session that begins with all that was said in this one.

        It may do what a new one may: what the other was allowed is not known here.
        """
        path = inside(cwd, self._roots)
        live = await self._sessions.fork_saved(session_id, cwd=path, title=title)
        await self._room.stored()
        return live.shown
