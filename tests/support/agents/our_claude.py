"""Our side as a program of its own, with a real Claude, so that a test can end it in the middle of a turn.

``python our_claude.py COMMAND WORKSPACE`` prints ``running`` when Claude has a command in the background and
one in front, and waits until it is ended. The environment for the agent is our own.
"""

from __future__ import annotations

import asyncio
import sys

from dragoman.client.connecting import connect
from dragoman.model.messages import ToolCall


async def main(command: str, workspace: str) -> None:
    async with connect("claude", command=command) as agent:
        session = await agent.start(cwd=workspace, access="full")
        calls = 0
        async for message in session.run("work"):
            calls += isinstance(message, ToolCall)
            if calls == 2:
                print("running", flush=True)  # noqa: T201


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
