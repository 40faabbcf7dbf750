"""A rehearsal: the stand-in model at work, and a home directory that leads an agent to it.

The server has a thread of its own, so that a rehearsal can be used from plain tests, from asyncio and
from the command line alike.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from dragoman.errors import DragomanError, reason_of
from dragoman.rehearsal.agents.homes import merged
from dragoman.rehearsal.agents.known import AGENTS, SETUPS, AgentName
from dragoman.rehearsal.agents.setup import AgentWishes
from dragoman.rehearsal.answers import ModelRequest, StandInModel
from dragoman.rehearsal.reading import read_script
from dragoman.rehearsal.requests import HttpRequest
from dragoman.rehearsal.script import Script
from dragoman.rehearsal.server import HOST, ModelServer

_SECONDS = 30
_STRIDE_BITS = 20


def _first() -> int:
    """The number of the first answer: no other rehearsal's, and with room for as many as one can give."""
    return (secrets.randbits(40) << _STRIDE_BITS) + 1


class RehearsalFailed(DragomanError):
    """The stand-in model could not be set up, or did not see what was waited for."""


class Rehearsal:
    """A script being played.

    ::

        with Rehearsal("- say: Hello.") as stage:
            subprocess.run(["codex", "exec", "hi"], env=stage.environ)
            assert stage.requests[0].place.prompt == "hi"

    ``script`` is a path, the text of a script, or a ``Script``. ``agent`` is the agent that is set up
    for it, or several of them; the model answers all of them in any case. ``config`` are further
    settings for the agent, over those of the script. The home directory is a temporary one, gone at the
    end, unless ``home`` names it. ``keep`` bounds how many requests are remembered.
    """

    def __init__(
        self,
        script: Script | str | os.PathLike[str],
        *,
        agent: AgentName | Sequence[AgentName] = "codex",
        home: str | os.PathLike[str] | None = None,
        model: str | None = None,
        retries: int | None = None,
        config: Mapping[str, Any] | None = None,
        port: int = 0,
        keep: int = 10_000,
    ) -> None:
        self.script = read_script(script)
        self.agents: tuple[AgentName, ...] = (agent,) if isinstance(agent, str) else tuple(agent)
        if unknown := [name for name in self.agents if name not in AGENTS]:
            known = ", ".join(AGENTS)
            raise RehearsalFailed(f"unknown agent {unknown[0]!r} (use {known})")
        # The agent works elsewhere: a relative home would be another one there.
        self._home = Path(home).expanduser().absolute() if home is not None else None
        self._model = model
        self._retries = retries
        self._config = config or {}
        self._wanted_port = port
        self._keep = keep
        self._temporary: Path | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._server: ModelServer | None = None
        self._problem: OSError | None = None
        self._port = 0

    # What an agent needs to know.

    @property
    def url(self) -> str:
        """Where the stand-in model answers: the ``base_url`` of a provider."""
        return f"http://{HOST}:{self._port}/v1"

    @property
    def home(self) -> Path:
        """The directory that everything of this rehearsal is in."""
        if self._home is not None:
            return self._home
        if self._temporary is None:
            raise RehearsalFailed("the rehearsal has not started: use it in a `with` statement")
        return self._temporary

    @property
    def codex_home(self) -> Path:
        """The home directory of Codex."""
        return self.home

    @property
    def claude_home(self) -> Path:
        """The home directory of Claude; its settings and sessions are in ``.claude`` there."""
        return self.home_of("claude")

    def home_of(self, agent: AgentName) -> Path:
        """The home directory of an agent: a folder of its own beside another agent's."""
        # Codex's has always been the outer one: its path is in the files of those who use rehearsals.
        alone = len(self.agents) == 1 or agent == "codex"
        return self.home if alone else self.home / agent

    @property
    def env(self) -> dict[str, str]:
        """The environment variables to set for the agent."""
        env: dict[str, str] = {}
        for agent in self.agents:
            home = self.home_of(agent)
            env |= SETUPS[agent].variables(home, self._wishes(agent))
            # A command that may use any agent keeps its own home; only one alone gets another.
            if len(self.agents) == 1:
                env |= SETUPS[agent].own_places(home)
        return env

    @property
    def environ(self) -> dict[str, str]:
        """This process's environment with those variables set."""
        return {**os.environ, **self.env}

    # What the agent did.

    @property
    def requests(self) -> list[ModelRequest]:
        """The requests for a response so far, each with the place in the script that answered it."""
        return list(self._server.requests) if self._server else []

    @property
    def others(self) -> list[HttpRequest]:
        """All other requests: they are no part of a conversation, or were refused."""
        return list(self._server.others) if self._server else []

    @property
    def unscripted(self) -> list[ModelRequest]:
        """The requests for which the script had nothing to say."""
        return [asked for asked in self.requests if asked.place.turn is None]

    # Beginning and end.

    def start(self) -> None:
        """Begin to serve, and make the home directory."""
        if self._home is None:
            self._temporary = Path(tempfile.mkdtemp(prefix="rehearsal-"))
        with ExitStack() as undo:
            undo.callback(self.close)
            self._start()
            undo.pop_all()

    def _start(self) -> None:
        ready = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(ready.set,), name="rehearsal", daemon=True
        )
        self._thread.start()
        if not ready.wait(_SECONDS) or self._problem is not None:
            why = reason_of(self._problem) if self._problem else f"not ready after {_SECONDS} s"
            where = f" (port {self._wanted_port})" if self._wanted_port else ""
            raise RehearsalFailed(f"the stand-in model cannot start: {why}{where}")
        for agent in self.agents:
            SETUPS[agent].write_home(self.home_of(agent), self._wishes(agent))

    def _wishes(self, agent: AgentName) -> AgentWishes:
        # With several agents, the settings given here are for the first.
        more = self._config if agent == self.agents[0] else {}
        config = merged(self.script.settings_of(agent), more)
        return AgentWishes(self.url, self._model_for(agent), self._allowed_retries, config)

    @property
    def _allowed_retries(self) -> int:
        return self.script.retries if self._retries is None else self._retries

    def _model_for(self, agent: AgentName) -> str | None:
        """The model that was asked for, if it is one of that agent's."""
        name = self._model or self.script.model
        if name is None or (len(self.agents) == 1 and self._model is not None):
            return name
        return name if SETUPS[agent].takes(name) else None

    def close(self) -> None:
        """Stop serving, and take the temporary home directory away."""
        loop, thread = self._loop, self._thread
        if loop is not None and thread is not None:
            # A server that failed ends by itself: its thread may be alive when its loop is closed.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._stop.set)
            thread.join(_SECONDS)
        if self._temporary is not None:
            # A process that the agent left behind may still be writing there.
            shutil.rmtree(self._temporary, ignore_errors=True)

    def _run(self, ready: Callable[[], None]) -> None:
        try:
            asyncio.run(self._serve(ready))
        except OSError as problem:
            self._problem = problem
            ready()

    async def _serve(self, ready: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        server = ModelServer(StandInModel(self.script, first=_first()), keep=self._keep)
        self._port = await server.start(self._wanted_port)
        self._server = server
        ready()
        await self._stop.wait()
        await server.close()

    def __enter__(self) -> Rehearsal:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Rehearsal:
        await asyncio.to_thread(self.start)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.close)
