"""Whose lines these are: the session of the stream, and the sub-agents that it started."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from dragoman.harnesses.stream_json.session import StreamSession

S = TypeVar("S", bound=StreamSession)


class Sessions(Generic[S]):
    """All sessions on one stream."""

    def __init__(self, make: Callable[[str | None], S]) -> None:
        self._make = make
        self.main = make(None)
        self._agents: dict[str, S] = {}
        self._started_by: dict[str, str] = {}
        """The sub-agent that each call started."""

    def all(self) -> list[S]:
        return [self.main, *self._agents.values()]

    def switch(self, session_id: str) -> None:
        """Another session goes on in the same process: the one before is over."""
        self.main.close_turn()
        self.main = self._make(session_id)

    def agent(self, agent_id: str | None, call_id: str | None) -> S:
        """The sub-agent of this name, or the one that this call started."""
        name = agent_id or self._started_by.get(call_id or "") or call_id or ""
        found = self._agents.get(name)
        if found is not None:
            return found
        agent = self._agents[name] = self._make(name)
        if call_id is not None:
            self._started_by[call_id] = name
        parent = self.owner(call_id)
        agent.assembler.begin_session(
            cwd=parent.assembler.cwd,
            parent_session_id=parent.session_id or self.main.session_id,
            parent_call_id=call_id,
        )
        return agent

    def known_agent(self, agent_id: str | None) -> S | None:
        return self._agents.get(agent_id or "")

    def agent_of_call(self, call_id: str) -> S | None:
        return self._agents.get(self._started_by.get(call_id, ""))

    def owner(self, call_id: str | None) -> S:
        """The session that made a call."""
        if call_id is not None:
            for session in self._agents.values():
                if session.assembler.calls.is_known(call_id):
                    return session
        return self.main
