"""What it costs to store first: the same lines read with and without the hub's store, in one run.

    python benchmarks/storing.py

Lines are parsed as the driver does it, in chunks of ten; with the store each line is journalled and each
message becomes an entry that is committed and then told. The ratio is of the reader's own time: the writer
has a thread of its own. Then: how long an entry takes from being heard to being told when nothing else is
going on, and how many deliveries to 1,000 readers a second the fan-out alone can do.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from dragoman.harnesses import harness
from dragoman.harnesses.contract.transport import SessionTransport
from dragoman.hub.hub import LiveSession, Reader
from dragoman.hub.journal import HubJournal
from dragoman.hub.live.registry import LiveRegistry
from dragoman.hub.stored_lines import replay
from dragoman.model.messages import Text
from dragoman.store.live.checking import verify

_LINES = 50_000
_CHUNK = 10
_READERS = 1000
_TOLD = 200
_TRANSPORT = harness("codex").transport()


def _lines() -> list[bytes]:
    return [
        msgspec.json.encode(
            {
                "method": "item/completed",
                "params": {
                    "threadId": "s",
                    "turnId": "t",
                    "item": {"type": "agentMessage", "id": f"m{number}", "text": "word " * 60},
                },
            }
        )
        for number in range(_LINES)
    ]


async def _read(lines: list[bytes], registry: LiveRegistry | None) -> tuple[float, float]:
    """Seconds of the reader's own time, and until all is told."""
    assert isinstance(_TRANSPORT, SessionTransport)
    conversation = _TRANSPORT.conversation((0, 166, 0), None)
    journal = HubJournal(registry, "codex") if registry is not None else None
    if journal is not None:
        journal.begin()
    began, own = time.perf_counter(), time.thread_time()
    for start in range(0, len(lines), _CHUNK):
        chunk = lines[start : start + _CHUNK]
        if journal is not None:
            journal.received(chunk)
        for line in chunk:
            conversation.receive_line(line)
        for message in conversation.messages():
            if registry is not None:
                registry.publish(message)
        await asyncio.sleep(0)
    own = time.thread_time() - own
    if registry is not None:
        await registry.stored()
    return own, time.perf_counter() - began


async def _latency(registry: LiveRegistry) -> list[float]:
    live = registry.get("s")
    reader = registry.subscribe("s", live.told_seq)
    taken: list[float] = []
    for _ in range(500):
        told = asyncio.ensure_future(reader.some())
        await asyncio.sleep(0.001)
        began = time.perf_counter()
        registry.add(live, Text(session_id="s", text="word " * 60))
        await told
        taken.append(time.perf_counter() - began)
    return sorted(taken)


async def _fan_out(registry: LiveRegistry) -> float:
    live = registry.get("s")
    first = live.told_seq
    got = 0

    async def read(reader: Reader) -> None:
        nonlocal got
        seen = 0
        while seen < _TOLD:
            for each in await reader.some():
                seen += 1
                got += len(each.json) > 0 if not isinstance(each, msgspec.Struct) else 0

    readers = [registry.subscribe("s", first) for _ in range(_READERS)]
    async with asyncio.TaskGroup() as tasks:
        for reader in readers:
            tasks.create_task(read(reader))
        await asyncio.sleep(0.1)
        began = time.perf_counter()
        for number in range(1, _TOLD + 1):
            registry.add(live, Text(session_id="s", text="word " * 60))
            while got < number * _READERS:  # noqa: ASYNC110  counted, not told
                await asyncio.sleep(0)
    return _READERS * _TOLD / (time.perf_counter() - began)


async def main() -> None:
    lines, now = _lines(), datetime.now(UTC)
    bare = min([(await _read(lines, None))[0] for _ in range(3)])
    with tempfile.TemporaryDirectory() as folder:
        registry = LiveRegistry(Path(folder))
        info = LiveSession(
            id="s", native_id="s", harness="codex", cwd="/", created_at=now, updated_at=now
        )
        registry.begin(info)
        own, told = await _read(lines, registry)
        print(f"reading alone          {_LINES / bare:>9,.0f} lines/s")
        print(f"reading and storing    {_LINES / own:>9,.0f} lines/s of the reader's own time")
        print(f"stored and told        {_LINES / told:>9,.0f} entries/s, each with its line")
        print(f"ratio, reader's time   {bare / own:>9.2f}")
        taken = await _latency(registry)
        middle, late = taken[len(taken) // 2] * 1000, taken[len(taken) * 99 // 100] * 1000
        print(f"heard to told          {middle:>9.2f} ms, 99 of 100 within {late:.2f} ms")
        print(f"to {_READERS} readers        {await _fan_out(registry):>9,.0f} deliveries/s")
        path = registry.store.path
        registry.close()
        began = time.perf_counter()
        problems = verify(path, replay)
        print(
            f"verified in            {time.perf_counter() - began:>9.2f} s: {problems or 'sound'}"
        )


if __name__ == "__main__":
    asyncio.run(main())
