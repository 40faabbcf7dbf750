"""One story with one program: a stand-in model, a home, a workspace, what was emitted, and what is left."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from subjects import Subject
from verdicts import Board

import dragoman
from dragoman.archive.finding import walk
from dragoman.archive.homes import all_homes
from dragoman.drive.agent import Agent
from dragoman.drive.timeouts import Timeouts
from dragoman.harnesses import ANY_PROGRAM, find_harness
from dragoman.harnesses.acp.quirks import LIMITS_OVER_ACP
from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.contract.reading import Limit
from dragoman.model.messages import Message, SessionStarted
from dragoman.rehearsal import Rehearsal
from dragoman.testing.likeness import differences
from support.agents.onlookers import marked, wait_until

_INHERITED = ("PATH", "LANG", "LC_ALL", "TZ", "SYSTEMROOT")
_GONE_SECONDS = 20
RUN_SECONDS = 180
_TIMEOUTS = Timeouts(read=90, turn=100, stall=60)
_connect = cast("Callable[..., AbstractAsyncContextManager[Agent]]", dragoman.connect)


@dataclass(frozen=True)
class _Heard:
    """What one process emitted."""

    messages: list[Message]
    only: str | None = None
    """Its one session, if its output has only one; some name it in their last line alone."""

    @property
    def sessions(self) -> list[str]:
        if self.only is not None:
            return [self.only]
        return list(dict.fromkeys(m.session_id for m in self.messages if m.session_id))

    def of(self, session_id: str) -> list[Message]:
        own = (session_id, None) if self.only == session_id else (session_id,)
        return [m for m in self.messages if m.session_id in own]


class Trial:
    """What a story needs, and what it leaves."""

    def __init__(self, subject: Subject, program: Path, folder: Path, board: Board) -> None:
        self.subject = subject
        self.program = program
        self.board = board
        self.folder = folder
        self.repo = folder / "repo"
        self.home = folder / "home"
        self._stack = ExitStack()
        self.forks: set[str] = set()
        """The sessions that were branched off from others."""
        self._heard: list[_Heard] = []
        self._env: dict[str, str] = {}

    def __enter__(self) -> Trial:
        self.repo.mkdir(parents=True)
        (self.repo / "note.txt").write_text("old\nend\n", encoding="utf-8")
        subprocess.run(["git", "init", "-q", str(self.repo)], check=True, timeout=30)
        return self

    def __exit__(self, *problem: object) -> None:
        self.kill_rest()
        self._stack.close()

    # The stage.

    def script(self, text: str, *, asks: bool = False, mcp: bool = False) -> Rehearsal:
        """Have the stand-in model play this."""
        subject = self.subject
        config: dict[str, Any] = {}
        server = [sys.executable, str(Path(__file__).with_name("mcp_server.py"))]
        settings = subject.mcp(server) if mcp and subject.mcp is not None else {}
        if subject.mcp_file is None:
            config |= settings
        if asks:
            config |= subject.asking
        stage = Rehearsal(text, agent=subject.agent, home=self.home, config=config)
        self._stack.enter_context(stage)
        if settings and subject.mcp_file is not None:
            path = self.home / subject.mcp_file
            known: dict[str, Any] = json.loads(path.read_bytes()) if path.exists() else {}
            path.write_text(json.dumps(known | settings), encoding="utf-8")
        inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        unset = subject.unset if asks else ()
        env = {name: value for name, value in stage.env.items() if name not in unset}
        self._env = {**inherited, "HOME": str(self.home), **env, "PWD": str(self.repo)}
        return stage

    @property
    def env(self) -> dict[str, str]:
        """The whole environment of the program."""
        return self._env

    # Driven.

    @property
    def harness(self) -> Harness | None:
        return find_harness(self.subject.harness or self.subject.name)

    @property
    def native(self) -> Harness | None:
        """The harness that keeps the session files: of an ACP server, that of the agent behind it."""
        is_server = self.subject.harness == ANY_PROGRAM
        return find_harness(self.subject.agent) if is_server else self.harness

    @asynccontextmanager
    async def connect(self, **options: Any) -> AsyncGenerator[Agent]:
        """As :func:`dragoman.connect`, and all that is emitted is kept."""
        name = self.subject.harness or self.subject.name
        heard: list[Message] = []
        self._heard.append(_Heard(heard))
        with self._only_this_environment():
            journal = self.folder / f"journal-{len(self._heard)}.jsonl"
            more = {"env": self.env, "timeouts": _TIMEOUTS, "journal": journal, **options}
            async with _connect(name, command=str(self.program), **more) as agent:
                agent.observe(heard.append)
                yield agent

    @contextmanager
    def _only_this_environment(self) -> Generator[None]:
        """Nothing of ours reaches the agent: its variables are added to this process's own.

        Nor does the mark by which its processes are found reach the helpers of ours that outlive it.
        """
        before = dict(os.environ)
        os.environ.clear()
        os.environ.update({name: before[name] for name in _INHERITED if name in before})
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)

    # By itself.

    async def run(self, arguments: list[str]) -> tuple[int, list[Message]]:
        """The program run to its end; what our reader makes of its output, if one knows it."""
        process = await asyncio.create_subprocess_exec(
            str(self.program),
            *arguments,
            cwd=self.repo,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0,
        )
        try:
            async with asyncio.timeout(RUN_SECONDS):
                out, err = await process.communicate()
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        path = self.folder / f"out-{len(self._heard)}.jsonl"
        path.write_bytes(out)
        (self.folder / f"err-{len(self._heard)}.txt").write_bytes(err)
        messages = list(dragoman.read(path)) if self.harness is not None else []
        self._heard.append(_Heard(messages, session_in(path)))
        return process.returncode or 0, messages

    # What is left.

    def check_nothing_runs(self) -> None:
        """No process of the agent may be left, nor one that it started."""
        try:
            wait_until(lambda: not marked(str(self.home)), _GONE_SECONDS)
        except AssertionError:
            left = [_words(pid) for pid in marked(str(self.home))]
            raise AssertionError(f"still running: {left}") from None

    def kill_rest(self) -> None:
        """End what a story left behind, so that the next one is not disturbed."""
        for pid in marked(str(self.home)):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def agents(self) -> list[int]:
        """The processes of the program itself."""
        name = self.program.name.split(".")[0]
        return [pid for pid in marked(str(self.home)) if name in _words(pid).split(" ")[0]] or [
            pid for pid in marked(str(self.home)) if f"/{name}" in _words(pid)
        ]

    # Live equals disk.

    def compare(self, table: str) -> None:
        """Count the sessions whose files say the same as was emitted live."""
        harness = self.native
        if harness is None or harness.history is None:
            return
        for session_id in dict.fromkeys(each for heard in self._heard for each in heard.sessions):
            messages = [m for heard in self._heard for m in heard.of(session_id)]
            path = self._saved(harness, session_id)
            if path is None:
                continue
            # For each process by itself: some count their turns anew in each.
            live = [t for heard in self._heard for t in dragoman.fold(heard.of(session_id))]
            disk = dragoman.fold(m for m in dragoman.read(path) if m.session_id == session_id)
            if session_id in self.forks:
                disk = disk[-len(live) :]  # a fork's file may begin with its parent's turns
            found = differences(live, disk, self._limits(harness, messages))
            self.board.compared(self.subject.name, table, [str(each) for each in found])

    def saved(self) -> list[Message]:
        """What the file of the last session says; nothing if there is none that we read."""
        harness, heard = self.harness, self._heard[-1]
        if harness is None or harness.history is None or not heard.sessions:
            return []
        path = self._saved(harness, heard.sessions[-1])
        return list(dragoman.read(path)) if path is not None else []

    def _saved(self, harness: Harness, session_id: str) -> str | None:
        assert harness.history is not None
        for home in all_homes(None):
            if home.harness != harness.name:
                continue
            for file in walk(home, home.folder(self.env), str(self.folder / "cache")):
                origin = harness.history.identify(file.path, _first_lines(file.path))
                if origin is not None and origin.session_id == session_id:
                    return file.path
        return None

    def _limits(self, harness: Harness, messages: list[Message]) -> list[Limit]:
        versions = [m.version for m in messages if isinstance(m, SessionStarted) and m.version]
        release = versions[0] if versions else self.subject.program.release
        names = [dialect.name for dialect in harness.dialects]
        own = [
            limit for limit in harness.limits if any(limit.applies(name, release) for name in names)
        ]
        return [*own, *LIMITS_OVER_ACP.get(self.subject.name, ())]


def session_in(path: Path) -> str | None:
    """The id of the session, as the program's own output has it."""
    for line in path.read_bytes().splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        for name in ("session_id", "sessionId", "sessionID"):
            if isinstance(row.get(name), str):
                return row[name]
    return None


def _first_lines(path: str) -> list[bytes]:
    with open(path, "rb") as file:
        return [line for _, line in zip(range(8), file, strict=False)]


def _words(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""
