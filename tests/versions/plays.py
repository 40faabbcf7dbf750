"""One story with one release: its program, a stand-in model, a workspace, and all that was told."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncGenerator, Iterable
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from releases import Version

import dragoman
from dragoman import connect
from dragoman.drive.agent import Agent
from dragoman.drive.one_shots import OneShotAgent
from dragoman.drive.turns import Result
from dragoman.harnesses import HARNESSES
from dragoman.model.messages import Message
from dragoman.model.turns import Turn
from dragoman.rehearsal import Rehearsal
from dragoman.testing.likeness import differences

ESCALATED_ASKS: Version = (0, 149, 0)
"""From here on a command asks when it wants to leave the sandbox; before, any that is not trusted."""
_NEW_MODEL: Version = (0, 120, 0)
_PLAN_BY_OPTION: Version = (0, 48, 0)
_M = TypeVar("_M", bound=Message)


class Play:
    """What a story needs, and what it heard."""

    def __init__(
        self, program: Path, release: Version, folder: Path, journal: Path | None = None
    ) -> None:
        self.release = release
        self.repo = folder / "repo"
        self._program = program
        self._home = folder / "home"
        self._journal = journal
        self._stack = ExitStack()
        self._heard: list[tuple[str, list[Message]]] = []
        """What each process told, and in which dialect."""

    def __enter__(self) -> Play:
        self.repo.mkdir(parents=True)
        (self.repo / "README.md").write_text("hello\n", encoding="utf-8")
        subprocess.run(["git", "init", "-q", str(self.repo)], check=True, timeout=30)
        return self

    def __exit__(self, *problem: object) -> None:
        self._stack.close()

    def script(self, text: str) -> Rehearsal:
        """Have the stand-in model play this."""
        # An older release does not know the newer models, and gives an unknown one fewer tools.
        model = "gpt-5.5" if self.release >= _NEW_MODEL else "gpt-5-codex"
        config = {"include_plan_tool": True} if self.release < _PLAN_BY_OPTION else {}
        stage = Rehearsal(text, home=self._home, model=model, config=config)
        return self._stack.enter_context(stage)

    def connect(self, **options: Any) -> AbstractAsyncContextManager[Agent]:
        """As :func:`dragoman.connect`, and all that is told is kept."""
        return self._connect(options)

    @asynccontextmanager
    async def _connect(self, options: dict[str, Any]) -> AsyncGenerator[Agent]:
        heard: list[Message] = []
        self._heard.append(("codex-app-server", heard))
        async with connect("codex", **self._options(options)) as agent:
            agent.observe(heard.append)
            yield agent

    def connect_exec(self, **options: Any) -> AbstractAsyncContextManager[OneShotAgent]:
        return connect("codex", mode="exec", **self._options(options))

    def hear(self, result: Result) -> Result:
        """Keep what a process of its own has told."""
        self._heard.append(("codex-exec", result.messages))
        return result

    def _options(self, more: dict[str, Any]) -> dict[str, Any]:
        # Commands run in login shells: whatever somebody's own profile does stays out of it.
        env = {
            "CODEX_HOME": str(self._home),
            "HOME": str(self._home),
            "NO_PROXY": "127.0.0.1,localhost",
            "no_proxy": "127.0.0.1,localhost",
        }
        journal = {"journal": self._journal} if self._journal else {}
        return {"command": str(self._program), "env": env, **journal, **more}

    # Approvals, which releases ask for in two ways.

    @property
    def asks(self) -> dict[str, Any]:
        """The authority under which :meth:`asking` asks."""
        if self.release >= ESCALATED_ASKS:
            return {"sandbox": "read-only", "approvals": "on-request"}
        return {"sandbox": "danger-full-access", "approvals": "untrusted"}

    def asking(self, command: str) -> str:
        """A step that makes the agent ask before it runs the command."""
        if self.release >= ESCALATED_ASKS:
            return f"run: {{command: {command}, escalate: I need it}}"
        return f"run: {command}"

    # Live equals disk.

    def session_file(self, session_id: str) -> Path | None:
        found = list(self._home.glob(f"sessions/**/*{session_id}.jsonl*"))
        assert len(found) < 2, found
        return found[0] if found else None

    def compared(self) -> dict[str, list[str]]:
        """For every session that left a file: what it tells otherwise than was told live."""
        release = ".".join(map(str, self.release))
        sessions: dict[str, list[tuple[str, list[Turn]]]] = {}
        for dialect, heard in self._heard:
            for session_id in dict.fromkeys(m.session_id for m in heard if m.session_id):
                turns = dragoman.fold(m for m in heard if m.session_id == session_id)
                sessions.setdefault(session_id, []).append((dialect, turns))
        found: dict[str, list[str]] = {}
        for session_id, told in sessions.items():
            path = self.session_file(session_id)
            live = [turn for _, turns in told for turn in turns]
            if path is None or not live:
                continue
            dialects = {"codex-rollout", *(dialect for dialect, _ in told)}
            limits = [
                limit
                for limit in HARNESSES[0].limits
                if limit.aspect != "agent usage"
                and any(limit.applies(dialect, release) for dialect in dialects)
            ]
            disk = dragoman.fold(dragoman.read(path))
            own = [turn for turn in disk if turn.session_id == session_id]
            found[session_id] = [str(one) for one in differences(live, own, limits)]
        return found


def of(kind: type[_M], messages: Iterable[Message]) -> list[_M]:
    """The messages of one kind."""
    return [message for message in messages if isinstance(message, kind)]
