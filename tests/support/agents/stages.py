"""The real Codex with a stand-in model, ready to be connected to."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, cast

import dragoman
from dragoman.client.connecting import connect, open_connection
from dragoman.client.connection import Connection
from dragoman.drive.agent import Agent
from dragoman.drive.turns.one_shots import OneShotAgent
from dragoman.harnesses import HARNESSES
from dragoman.model.messages import Message
from dragoman.rehearsal import Rehearsal
from dragoman.testing.likeness import differences

SECONDS = 60
"""No story with the real program may take longer."""


class Stage:
    """A rehearsal, and how to reach the program that plays in it."""

    def __init__(self, rehearsal: Rehearsal, command: str) -> None:
        self.rehearsal = rehearsal
        self.command = command
        # Commands run in login shells: whatever a developer's own profile does stays out of it.
        self.env = {**rehearsal.env, "HOME": str(rehearsal.codex_home)}

    def connect(self, **options: Any) -> AbstractAsyncContextManager[Agent]:
        how = self.connection(**options)
        return cast("AbstractAsyncContextManager[Agent]", open_connection("codex", how))

    def connect_exec(self, **options: Any) -> AbstractAsyncContextManager[OneShotAgent]:
        return connect("codex", mode="exec", command=self.command, env=self.env, **options)

    def connection(self, **options: Any) -> Connection:
        return Connection(command=self.command, env=self.env, **options)

    def session_file(self, session_id: str) -> Path:
        found = list(self.rehearsal.codex_home.glob(f"sessions/**/*{session_id}.jsonl"))
        assert len(found) == 1, found
        return found[0]

    def assert_like_disk(self, session_id: str, live: list[Message], dialect: str) -> None:
        """What was told live is what the session's file tells."""
        harness = HARNESSES[0]
        release = next(m.version for m in live if isinstance(m, dragoman.SessionStarted))
        assert release is not None
        limits = [
            limit
            for limit in harness.limits
            for name in (dialect, "codex-rollout")
            if limit.applies(name, release)
        ]
        own = [m for m in live if m.session_id == session_id]
        disk = dragoman.fold(dragoman.read(self.session_file(session_id)))
        assert differences(dragoman.fold(own), disk, limits) == []
