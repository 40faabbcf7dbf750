"""Whose rows these are: the file's own session, a sub-agent's, or the one that a fork was copied from."""

from __future__ import annotations

from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.qwen.chat.shapes import ChatRow
from dragoman.harnesses.qwen.session import QwenSession
from dragoman.wire.loose import as_dict, as_str


class ChatSessions:
    """All sessions with rows in one file."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._sessions: dict[str, QwenSession] = {}
        self.model: str | None = None
        """The model that the first rows name."""
        self._copied: QwenSession | None = None
        """The session that the rows so far were copied from."""

    def all(self) -> list[QwenSession]:
        return [*self._sessions.values()]

    def of(self, row: ChatRow) -> QwenSession:
        """The session that a row belongs to, announced when its first row is read.

        A fork's file begins with its parent's rows, which have the ids they had there. They are the parent's: so what
        they have cost is counted once, and is still known when the parent's file is gone.
        """
        copied_from = as_str(as_dict(row.forkedFrom).get("sessionId"))
        if copied_from is not None:
            self._copied = self._found(copied_from)
            return self._copied
        agent_id = as_str(row.agentId) if row.isSidechain is True else None
        parent = row.sessionId if agent_id is not None else None
        if self._copied is not None:
            parent = parent or self._copied.session_id
            self._copied.close_turn(may_go_on=True)
        session = self._found(agent_id or row.sessionId)
        if not session.assembler.has_facts:
            session.assembler.begin_session(
                version=as_str(row.version),
                model=self.model,
                cwd=as_str(row.cwd),
                parent_session_id=parent,
                parent_call_id=_call_of(agent_id, as_str(row.agentName)),
            )
        return session

    def _found(self, session_id: str) -> QwenSession:
        session = self._sessions.get(session_id)
        if session is None:
            session = self._sessions[session_id] = QwenSession(self._out, session_id)
            session.assembler.says_ends = False
        return session


def _call_of(agent_id: str | None, name: str | None) -> str | None:
    """The call that started a sub-agent: it is part of the sub-agent's name."""
    start = f"{name}-"
    if agent_id is None or name is None or not agent_id.startswith(start):
        return None
    return agent_id[len(start) :]
