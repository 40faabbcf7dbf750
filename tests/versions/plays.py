"""One story with one release: its program, a stand-in model, a workspace, and all that was told."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncGenerator, Iterable
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from releases import Version

import dragoman
from dragoman import connect
from dragoman.drive.agent import Agent
from dragoman.drive.turns.one_shots import OneShotAgent
from dragoman.drive.turns.running import Result
from dragoman.harnesses import HARNESSES
from dragoman.harnesses.contract.reading import Limit
from dragoman.model.messages import Message
from dragoman.model.turns import Turn
from dragoman.rehearsal import Rehearsal
from dragoman.testing.likeness import differences

ESCALATED_ASKS: Version = (0, 149, 0)
"""From here on a command asks when it wants to leave the sandbox; before, any that is not trusted."""
_LOSE_ENDS: tuple[Version, Version] = (0, 100, 0), (0, 112, 0)
"""One time in some hundred these leave before their last row is written: seen in 0.104 and 0.107."""
_NEW_MODEL: Version = (0, 120, 0)
_M = TypeVar("_M", bound=Message)


@dataclass(frozen=True)
class _Heard:
    """What one process told."""

    dialect: str
    messages: list[Message]
    counts: bool = True
    """Whether it can know the tokens of its own turns."""

    def turns(self, session_id: str) -> list[Turn]:
        # For each process by itself: old releases count their turns anew in each.
        return dragoman.fold(m for m in self.messages if m.session_id == session_id)


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
        self._heard: list[_Heard] = []

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
        stage = Rehearsal(text, home=self._home, model=model)
        return self._stack.enter_context(stage)

    def connect(self, **options: Any) -> AbstractAsyncContextManager[Agent]:
        """As :func:`dragoman.connect`, and all that is told is kept."""
        return self._connect(options)

    @asynccontextmanager
    async def _connect(self, options: dict[str, Any]) -> AsyncGenerator[Agent]:
        heard: list[Message] = []
        self._heard.append(_Heard("codex-app-server", heard))
        async with connect("codex", mode="app-server", **self._options(options)) as agent:
            agent.observe(heard.append)
            yield agent

    def connect_exec(self, **options: Any) -> AbstractAsyncContextManager[OneShotAgent]:
        return connect("codex", mode="exec", **self._options(options))

    def hear(self, result: Result, *, counts: bool = True) -> Result:
        """Keep what a process of its own has told.

        It tells totals only: where nobody knows what was spent before, it cannot count its own.
        """
        self._heard.append(_Heard("codex-exec", result.messages, counts))
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
        sessions: dict[str, list[_Heard]] = {}
        for heard in self._heard:
            for session_id in dict.fromkeys(m.session_id for m in heard.messages if m.session_id):
                sessions.setdefault(session_id, []).append(heard)
        found: dict[str, list[str]] = {}
        for session_id, told in sessions.items():
            path = self.session_file(session_id)
            if path is None:
                continue
            live = [turn for heard in told for turn in heard.turns(session_id)]
            disk = dragoman.fold(dragoman.read(path))
            own = [turn for turn in disk if turn.session_id == session_id]
            counted = [heard.counts for heard in told for _ in heard.turns(session_id)]
            for turn, counts in zip(own, counted, strict=False):
                if not counts and turn.ended is not None:
                    turn.ended = msgspec.structs.replace(turn.ended, usage=None)
            if live and own and self._lost_end(path):
                own[-1].ended = live[-1].ended
            limits = self._limits({heard.dialect for heard in told})
            if any(limit.aspect == "tail" for limit in limits):
                live = live[: len(own)]  # what the program left too early to write
            found[session_id] = [str(one) for one in differences(live, own, limits)]
        return found

    def _lost_end(self, path: Path) -> bool:
        """Whether the program has left without writing the row that ends the last turn."""
        if not _LOSE_ENDS[0] <= self.release <= _LOSE_ENDS[1]:
            return False
        last = path.read_bytes().rstrip(b"\n").rpartition(b"\n")[2]
        return not any(end in last for end in (b'"task_complete"', b'"turn_aborted"'))

    def _limits(self, dialects: set[str]) -> list[Limit]:
        release = ".".join(map(str, self.release))
        return [
            limit
            for limit in HARNESSES[0].limits
            if limit.aspect != "agent usage"  # no agents work for others in these stories
            and any(limit.applies(name, release) for name in ("codex-rollout", *dialects))
        ]


def of(kind: type[_M], messages: Iterable[Message]) -> list[_M]:
    """The messages of one kind."""
    return [message for message in messages if isinstance(message, kind)]
