"""Our side as a program of its own, so that it can be killed in the middle of a turn.

``python victim.py HARNESS COMMAND WORKSPACE OPTIONS`` prints ``running`` when the agent works on a command. The
environment for the agent is our own; OPTIONS is a Python dictionary.
"""

from __future__ import annotations

import ast
import asyncio
import sys

import dragoman
from dragoman.model.messages import ToolCall


async def main(harness: str, command: str, workspace: str, options: str) -> None:
    async with dragoman.connect(harness, command=command) as agent:
        session = await agent.start(cwd=workspace, **ast.literal_eval(options))
        async for message in session.run("go"):
            if isinstance(message, ToolCall):
                print("running", flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:5]))
