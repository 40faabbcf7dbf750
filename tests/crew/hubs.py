"""Hubs for tests: on a server that lives in memory, or on the real program; and how to wait for them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pretending import FakeLink, Server

from dragoman.crew import connecting
from dragoman.crew.connection import Connection
from dragoman.crew.hub import Entry, Gap, Hub, Passing, Reader, Told
from dragoman.crew.reaching import Reach
from dragoman.drive.restarting import Restarts
from dragoman.drive.timeouts import Timeouts
from dragoman.model.messages import Message, Text, TurnEnded

SECONDS = 20


class Pretence:
    """A server in memory, and hubs that reach it as if it were a program."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.server = Server()
        self.folder = folder
        self.repo = folder / "repo"
        self.repo.mkdir()
        self.data = folder / "data"

        async def reach(driving: object, how: Connection) -> Reach:
            return Reach(
                program="pretend",
                release=(0, 166, 0),
                open=lambda launch: self.server.open_link(),
                here=True,
            )

        monkeypatch.setattr(connecting, "reach", reach)

    def hub(self, *, policy_path: Path | None = None, **options: Any) -> Hub:
        how = Connection(
            timeouts=Timeouts(read=5), restarts=Restarts(at_most=3, pauses=(0.01,)), **options
        )
        return Hub(self.data, connection=how, roots=[self.repo], policy_path=policy_path)


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


async def eventually(holds: Callable[[], object]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(SECONDS):
        while not holds():
            await asyncio.sleep(0.005)


async def read_until(reader: Reader, holds: Callable[[Message], bool]) -> list[Told]:
    """What a reader is told up to a message."""
    told: list[Told] = []
    async with asyncio.timeout(SECONDS):
        async for each in reader:
            told.append(each)
            if isinstance(each, Entry) and holds(each.message):
                return told
    raise AssertionError(f"it ended before: {told}")


def is_end(message: Message) -> bool:
    return isinstance(message, TurnEnded)


def seqs(told: list[Told]) -> list[int]:
    return [each.seq for each in told if isinstance(each, Entry)]


def texts(told: list[Told] | list[Entry]) -> list[str]:
    messages = [each.message for each in told if isinstance(each, Entry)]
    return [message.text for message in messages if isinstance(message, Text)]


def kinds(told: list[Told] | list[Entry]) -> list[str]:
    return [
        "gap" if isinstance(each, Gap) else str(each.message.__struct_config__.tag)
        for each in told
        if not isinstance(each, Passing)
    ]


def children_of(pid: int) -> list[int]:
    """The processes that a process has started."""
    found: list[int] = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                stat = Path("/proc", name, "stat").read_text(encoding="utf-8")
            except OSError:
                continue
            if int(stat.rpartition(")")[2].split()[1]) == pid:
                found.append(int(name))
    return found
