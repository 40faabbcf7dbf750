"""A program that reads one turn, may stop reading for a while, and says what it took.

``python -m support.agents.measured COMMAND WORKSPACE STOP_SECONDS wait|block`` prints one JSON object.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

from dragoman.client.connecting import connect
from dragoman.model.messages import Delta, Message, Text, ToolResult, TurnStarted
from support.agents.onlookers import peak_megabytes


async def main(command: str, workspace: str, stop: float, how: str) -> dict[str, Any]:
    told: dict[str, Any] = {"deltas": 0, "texts": [], "outputs": []}
    async with connect("codex", command=command) as agent:
        before = peak_megabytes()
        session = await agent.start(cwd=workspace, sandbox="danger-full-access", approvals="never")
        turn = session.run("work")
        async for message in turn:
            _count(told, message)
            if isinstance(message, TurnStarted):
                if how == "block":
                    time.sleep(stop)  # noqa: ASYNC251  which is the fault
                else:
                    await asyncio.sleep(stop)
                    await turn.over()  # all was said, and nothing read
        told["outcome"] = turn.ended.outcome if turn.ended else None
        told["megabytes"] = round(peak_megabytes() - before)
    return told


def _count(told: dict[str, Any], message: Message) -> None:
    if isinstance(message, Delta):
        told["deltas"] += 1
    elif isinstance(message, Text):
        told["texts"].append(int(message.text.split()[0]))
    elif isinstance(message, ToolResult):
        told["outputs"].append(len(message.output or ""))


if __name__ == "__main__":
    _, program, place, seconds, manner = sys.argv
    print(json.dumps(asyncio.run(main(program, place, float(seconds), manner))))  # noqa: T201
