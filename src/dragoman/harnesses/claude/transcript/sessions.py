"""Whose rows these are: the file's own session, a sub-agent's, or the one that a fork was copied from."""

from __future__ import annotations

from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.claude.session import ClaudeSession
from dragoman.harnesses.claude.transcript import shapes
from dragoman.wire.loose import as_str


class FileSessions:
    """All sessions with rows in one file."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self.main = ClaudeSession(out, None)
        self._others: dict[str, ClaudeSession] = {}
        self._chains: dict[str, str] = {}
        """The first row of the chain that each row of an unnamed sub-agent belongs to."""
        self._turns: dict[str, int] = {}
        """The turn in which each row of the main chain was written."""
        self._count = 0
        self._rows: set[str] = set()
        """The ids of the rows that were read."""
        self.model: str | None = None
        """The model that the first rows name."""
        self.handed_off_from: str | None = None
        """The session of another program whose conversation this file begins with."""

    def all(self) -> list[ClaudeSession]:
        return [self.main, *self._others.values()]

    def is_repeated(self, row: shapes.AnyRow) -> bool:
        """Whether the file has this row already: some releases wrote rows again when a session was resumed."""
        uuid = as_str(row.uuid)
        if uuid is None:
            return False
        if uuid in self._rows:
            return True
        self._rows.add(uuid)
        return False

    def of(self, row: shapes.AnyRow, copied_from: str | None) -> ClaudeSession:
        """The session that a row belongs to."""
        if copied_from is not None:
            return self._other(copied_from)
        agent_id = as_str(row.agentId)
        if agent_id is not None:
            return self._other(agent_id)
        if row.isSidechain is True:
            return self._other(self._chain(row))
        session_id = as_str(row.sessionId)
        main = self.main
        if session_id is not None and main.session_id is None:
            main.assembler.session_id = session_id
        elif session_id is not None and session_id != main.session_id:
            return self._other(session_id)
        if (uuid := as_str(row.uuid)) is not None:
            self._turns[uuid] = self._count
        return main

    def leave_copied(self, parent: str | None) -> None:
        """The rows that were copied from the parent are over: its last turn ends, if it had finished."""
        copied = self._others.get(parent or "")
        if copied is not None:
            copied.close_turn(may_go_on=True)

    def _other(self, session_id: str) -> ClaudeSession:
        found = self._others.get(session_id)
        if found is None:
            found = self._others[session_id] = ClaudeSession(self._out, session_id)
        return found

    def _chain(self, row: shapes.AnyRow) -> str:
        """The name of a sub-agent that has none: releases before 2.1 wrote its rows into the same file."""
        uuid, parent = as_str(row.uuid) or "", as_str(row.parentUuid) or ""
        name = self._chains[uuid] = self._chains.get(parent, uuid)
        return name

    def introduce(
        self, session: ClaudeSession, row: shapes.AnyRow, forked_from: str | None
    ) -> None:
        """Say what the session is, when its first own row is read."""
        if session.assembler.has_facts:
            return
        is_agent = session.session_id != as_str(row.sessionId)
        session.assembler.begin_session(
            version=as_str(row.version),
            model=self.model,
            cwd=as_str(row.cwd),
            parent_session_id=as_str(row.sessionId)
            if is_agent
            else forked_from or self.handed_off_from,
        )

    def know_model(self, session: ClaudeSession, model: str) -> None:
        if session.assembler.has_facts:
            session.assembler.begin_session(model=model)

    def begin_turn(self, session: ClaudeSession, row: shapes.User) -> None:
        """A prompt begins a turn; one that goes on from an earlier turn undoes those after it."""
        name = as_str(row.uuid)
        if session is not self.main:
            session.begin_turn(name)
            return
        before = self._turns.get(as_str(row.parentUuid) or "", self._count)
        undone = self._count - before
        session.begin_turn(name)
        self._count += 1
        if undone:
            turns = "turn" if undone == 1 else "turns"
            session.assembler.notice(
                "rewind", "info", f"{undone} {turns} taken back", undone_turns=undone
            )
        if name is not None:
            self._turns[name] = self._count
