"""Hubs for tests: on a server that lives in memory, or on the real program; and how to wait for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from dragoman.client import opening
from dragoman.client.connection import Connection
from dragoman.client.reaching import Reach
from dragoman.drive.restarting import Restarts
from dragoman.drive.timeouts import Timeouts
from dragoman.hub.hub import Delivery, Entry, Gap, Hub, InProgress, Reader, Transient
from dragoman.model.messages import Message, Text, TurnEnded

SECONDS = 60
FakeLink: TypeAlias = Any
Server: TypeAlias = Any
"""From the driver's tests, where type checkers do not look."""


class Pretence:
    """A server in memory, and hubs that reach it as if it were a program."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.server: Server = import_module("support.agents.pretending").Server()
        self.folder = folder
        self.repo = folder / "repo"
        self.repo.mkdir()
        self.data = folder / "data"
        self.read_seconds = 5.0
        self.interrupt_seconds = 2.0
        self.may_be_reached = asyncio.Event()
        self.may_be_reached.set()

        async def reach(program: object, transport: object, how: Connection) -> Reach:
            await self.may_be_reached.wait()
            return Reach(
                program="pretend",
                release=(0, 166, 0),
                open=lambda launch: self.server.open_link(),
                here=True,
            )

        monkeypatch.setattr(opening, "reach", reach)

    def hub(self, *, policy_path: Path | None = None, waits: bool = True, **options: Any) -> Hub:
        how = Connection(
            timeouts=Timeouts(read=self.read_seconds, interrupt=self.interrupt_seconds),
            restarts=Restarts(at_most=3, pauses=(0.01,)),
            **options,
        )
        return Hub(
            self.data, connection=how, roots=[self.repo], policy_path=policy_path, waits=waits
        )


def say_delta(server: Server, link: FakeLink, text: str, item: str = "msg-1") -> None:
    link.note("item/agentMessage/delta", turnId=link.turn, itemId=item, delta=text)


def ask_for(link: FakeLink, number: int, command: str = "touch x") -> None:
    params = {
        "threadId": link.thread,
        "turnId": link.turn,
        "itemId": f"call-{number}",
        "command": command,
        "cwd": "/",
    }
    method = "item/commandExecution/requestApproval"
    link.say({"id": number, "method": method, "params": params})


def asks(server: Server, number: int | None, command: str = "touch x") -> None:
    """Every turn asks for approval under this number, or under that of the turn."""

    def ask(link: FakeLink) -> None:
        ask_for(link, server.turns if number is None else number, command)

    server.starts_turns(ask)


async def eventually(holds: Callable[[], object]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(SECONDS):
        while not holds():  # noqa: ASYNC110  what is waited for is seen, not told
            await asyncio.sleep(0.005)


async def read_until(reader: Reader, holds: Callable[[Message], bool]) -> list[Delivery]:
    """What a reader is told up to a message."""
    told: list[Delivery] = []
    async with asyncio.timeout(SECONDS):
        async for each in reader:
            told.append(each)
            if isinstance(each, Entry) and holds(each.message):
                return told
    raise AssertionError(f"it ended before: {told}")


def is_end(message: Message) -> bool:
    return isinstance(message, TurnEnded)


def seqs(told: list[Delivery]) -> list[int]:
    return [each.seq for each in told if isinstance(each, Entry)]


def texts(told: list[Delivery] | list[Entry]) -> list[str]:
    messages = [each.message for each in told if isinstance(each, Entry)]
    return [message.text for message in messages if isinstance(message, Text)]


def kinds(told: list[Delivery] | list[Entry]) -> list[str]:
    return [
        "gap" if isinstance(each, Gap) else str(each.message.__struct_config__.tag)
        for each in told
        if not isinstance(each, Transient | InProgress)
    ]
