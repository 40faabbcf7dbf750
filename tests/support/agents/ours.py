"""Our side as a program of its own, so that a test can end it in the middle of a turn.

``python ours.py app-server|exec|sync COMMAND WORKSPACE`` says ``running`` when the agent has called a
tool, and goes on until it is ended. The environment for the agent is our own.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from dragoman.client import sync
from dragoman.client.connecting import connect
from dragoman.model.messages import ToolCall

_SESSION: dict[str, Any] = {"sandbox": "danger-full-access", "approvals": "never"}


async def main(mode: str, command: str, workspace: str) -> None:
    opened: Any = connect
    async with opened("codex", mode=mode, command=command) as agent:
        session = await agent.start(cwd=workspace, **_SESSION)
        async for message in session.run("work"):
            if isinstance(message, ToolCall):
                print("running", flush=True)  # noqa: T201


def main_without_await(command: str, workspace: str) -> None:
    with sync.connect("codex", command=command) as agent:
        for message in agent.start(cwd=workspace, **_SESSION).run("work"):
            if isinstance(message, ToolCall):
                print("running", flush=True)  # noqa: T201


if __name__ == "__main__":
    if sys.argv[1] == "sync":
        main_without_await(*sys.argv[2:4])
    else:
        asyncio.run(main(*sys.argv[1:4]))
