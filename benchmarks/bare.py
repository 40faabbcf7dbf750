"""The least that can drive ``codex app-server``: what Dragoman's turns are measured against.

A JSON-RPC loop as one writes it in an afternoon: ``readline``, ``json.loads``, a table of futures. It
decodes every line, looks for answers and for the ends of turns, and understands nothing else.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

AT_ONCE = 32
"""Requests under way, as many as Dragoman allows itself."""
_OVERLOADED = -32001
_LIMIT = 1 << 26
_PAUSE = 0.1


class Bare:
    """A server and our ends of its pipes."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._ends: dict[str, asyncio.Future[str]] = {}
        self._gate = asyncio.Semaphore(AT_ONCE)
        self._count = 0
        self.pid = process.pid
        self.lines = 0
        """How many have been read."""

    async def read(self) -> None:
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            self.lines += 1
            message = json.loads(line)
            if "method" not in message:
                self._answers.pop(message["id"]).set_result(message)
            elif message["method"] == "turn/completed":
                params = message["params"]
                self._end_of(params["threadId"]).set_result(params["turn"]["status"])

    def _end_of(self, thread: str) -> asyncio.Future[str]:
        loop = asyncio.get_running_loop()
        return self._ends.setdefault(thread, loop.create_future())

    def _write(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        async with self._gate:
            while True:
                self._count += 1
                answer = self._answers[self._count] = asyncio.get_running_loop().create_future()
                self._write({"id": self._count, "method": method, "params": params})
                said = await answer
                if "result" in said:
                    return said["result"]
                if said["error"]["code"] != _OVERLOADED:
                    raise RuntimeError(said["error"])
                await asyncio.sleep(_PAUSE)

    async def greet(self) -> None:
        client = {"name": "bare", "version": "0"}
        capabilities = {"experimentalApi": True}
        await self.ask("initialize", clientInfo=client, capabilities=capabilities)
        self._write({"method": "initialized"})

    async def start(self, cwd: str) -> str:
        asked = {"cwd": cwd, "sandbox": "danger-full-access", "approvalPolicy": "never"}
        return (await self.ask("thread/start", **asked))["thread"]["id"]

    async def turn(self, thread: str, text: str) -> str:
        """Run a turn; how it ended."""
        end = self._end_of(thread)
        await self.ask("turn/start", threadId=thread, input=[{"type": "text", "text": text}])
        status = await end
        del self._ends[thread]
        return status


@asynccontextmanager
async def open_bare(command: str, env: Mapping[str, str]) -> AsyncGenerator[Bare]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        command,
        "app-server",
        stdin=pipe,
        stdout=pipe,
        stderr=asyncio.subprocess.DEVNULL,
        env=dict(env),
        limit=_LIMIT,
    )
    bare = Bare(process)
    async with asyncio.TaskGroup() as tasks:
        reader = tasks.create_task(bare.read())
        try:
            await bare.greet()
            yield bare
        finally:
            reader.cancel()
            process.kill()
            await process.wait()
