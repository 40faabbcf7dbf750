"""The driver for scripts and notebooks: the same words, without ``await``.

    with dragoman.sync.connect("codex") as codex:
        session = codex.start(cwd=repo)
        for message in session.run("Fix the failing test"):
            ...

Each call is carried out by the loop of one background thread; Ctrl-C reaches the caller, and leaving
the ``with`` ends every process.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any

from dragoman.crew.connecting import Driver, DriverSession, open_connection
from dragoman.crew.connection import Connection
from dragoman.crew.portal import Portal
from dragoman.drive.turns import Result, Turn
from dragoman.model.intents import ServerFacts, SessionFacts
from dragoman.model.messages import Message


class SyncTurn:
    """Iterate over it for the messages, or ask for the :meth:`result`."""

    def __init__(self, portal: Portal[Driver], turn: Turn) -> None:
        self._portal = portal
        self._turn = turn
        self._messages: list[Message] = []

    def __iter__(self) -> Iterator[Message]:
        """The messages, from where it was left off, be it by Ctrl-C."""
        for message in self._portal.iterate(aiter(self._turn)):
            self._messages.append(message)
            yield message

    def result(self) -> Result:
        """What it came to; waits for the end."""
        for _ in self:
            continue
        return self._turn.result(self._messages)


class SyncSession:
    """One conversation with an agent."""

    def __init__(self, portal: Portal[Driver], session: DriverSession) -> None:
        self._portal = portal
        self._session = session

    @property
    def id(self) -> str:
        return self._session.id

    @property
    def facts(self) -> SessionFacts:
        return self._session.facts

    @property
    def running(self) -> bool:
        return self._session.running

    def run(self, text: str, **options: Any) -> SyncTurn:
        """Ask. The options are those of :meth:`dragoman.drive.session.Session.run`."""

        async def begin() -> Turn:
            return self._session.run(text, **options)

        return SyncTurn(self._portal, self._portal.call(begin()))

    def compact(self) -> SyncTurn:
        async def begin() -> Turn:
            return self._session.compact()

        return SyncTurn(self._portal, self._portal.call(begin()))

    def review(self, target: Mapping[str, Any] | None = None) -> SyncTurn:
        async def begin() -> Turn:
            return self._session.review(target)

        return SyncTurn(self._portal, self._portal.call(begin()))

    def steer(self, text: str, *, images: Sequence[str] = ()) -> None:
        self._portal.call(self._session.steer(text, images=images))

    def interrupt(self) -> None:
        self._portal.call(self._session.interrupt())

    def stop_commands(self) -> None:
        self._portal.call(self._session.stop_commands())

    def fork(self) -> SyncSession:
        return SyncSession(self._portal, self._portal.call(self._session.fork()))

    def rename(self, name: str) -> None:
        self._portal.call(self._session.rename(name))

    def archive(self, *, archived: bool = True) -> None:
        self._portal.call(self._session.archive(archived=archived))

    def read(self, *, turns: bool = True) -> Any:
        return self._portal.call(self._session.read(turns=turns))

    def close(self) -> None:
        self._portal.call(self._session.close())


class SyncAgent:
    """An agent that is there to work."""

    def __init__(self, portal: Portal[Driver]) -> None:
        self._portal = portal
        self._agent = portal.value

    @property
    def state(self) -> str:
        return self._agent.state

    @property
    def facts(self) -> ServerFacts | None:
        return self._agent.facts

    def start(self, **options: Any) -> SyncSession:
        """Begin a session. The options are those of :meth:`dragoman.drive.agent.Agent.start`."""
        return SyncSession(self._portal, self._portal.call(self._agent.start(**options)))

    def saved_sessions(self, *, limit: int = 50, archived: bool = False) -> Any:
        return self._portal.call(self._agent.saved_sessions(limit=limit, archived=archived))

    def models(self) -> Any:
        return self._portal.call(self._agent.models())

    def rate_limits(self) -> Any:
        return self._portal.call(self._agent.rate_limits())

    def close(self) -> None:
        self._portal.close()

    def __enter__(self) -> SyncAgent:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def connect(harness: str | None = None, **options: Any) -> SyncAgent:
    """As :func:`dragoman.connect`, for use with ``with``."""
    how = Connection(**options)
    return SyncAgent(Portal(lambda: open_connection(harness, how)))


def run(
    harness: str,
    prompt: str,
    *,
    cwd: str | os.PathLike[str],
    check: bool = False,
    turn: Mapping[str, Any] | None = None,
    session: Mapping[str, Any] | None = None,
    **options: Any,
) -> Result:
    """Ask an agent one thing and wait for the answer.

    ``session`` are options of :meth:`Agent.start`, ``turn`` of :meth:`Session.run`, all others of
    :func:`dragoman.connect`. With ``check`` anything but a completed turn is raised.
    """
    with connect(harness, **options) as agent:
        result = agent.start(cwd=cwd, **(session or {})).run(prompt, **(turn or {})).result()
    return result.check() if check else result
