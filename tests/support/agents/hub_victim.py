"""A hub as a program of its own, so that a test can kill it in the middle of a turn.

``python hub_victim.py DATA COMMAND WORKSPACE`` prints all that a reader is told, one JSON line each. The
environment for the agent is our own.
"""

from __future__ import annotations

import asyncio
import sys

from dragoman.client.connection import Connection
from dragoman.hub.hub import Gap, Hub, InProgress


async def main(data: str, command: str, workspace: str) -> None:
    async with Hub(data, connection=Connection(command=command), roots=[workspace]) as hub:
        session = await hub.start(
            cwd=workspace, sandbox="workspace-write", approvals="on-request", idempotency_key="k"
        )
        print(session.id, flush=True)  # noqa: T201
        reader = hub.subscribe(session.id)
        await hub.run(session.id, "work")
        async for told in reader:
            if not isinstance(told, Gap | InProgress):
                print(told.json.decode(), flush=True)  # noqa: T201


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4]))
