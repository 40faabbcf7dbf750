"""A relay beside the bare pipe: how many lines a second pass, and how much later a line arrives.

    python benchmarks/relay.py [--mb 200] [--echoes 2000]

Both run in turns, in the same process. Exits with 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from dragoman.drive.relay import records
from dragoman.drive.relay.client import RelayClient
from dragoman.drive.relay.starting import start_relay
from dragoman.wire.lines import LineSplitter

_FLOOD = """\
import os, sys
sys.stdin.readline()
block = (b"x" * 249 + b"\\n") * 4000
for _ in range({mb}):
    os.write(1, block)
sys.stdin.readline()
"""
_ECHO = (
    "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line); sys.stdout.flush()"
)
_CHUNK = 1 << 18


async def _bare_flood(mb: int) -> float:
    """The lines of the process itself, split as for every agent."""
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _FLOOD.format(mb=mb)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=_CHUNK,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    splitter, count = LineSplitter(), 0
    child.stdin.write(b"\n")
    began = time.perf_counter()
    while count < mb * 4000:
        for _ in splitter.receive(await child.stdout.read(_CHUNK)):
            count += 1
    took = time.perf_counter() - began
    child.stdin.write(b"\n")
    await child.wait()
    return took


async def _relay_flood(mb: int, folder: str) -> float:
    relay = start_relay([sys.executable, "-c", _FLOOD.format(mb=mb)], cwd="/", parent=folder)
    async with await RelayClient.connect(relay.folder) as client:
        await client.attach(write=True)
        client.send("go", b"")
        began, count = time.perf_counter(), 0
        async for record in client.records():
            if record.kind == records.OUTPUT:
                count += len(record.lines())
                if count == mb * 4000:
                    break
        took = time.perf_counter() - began
        client.send("end", b"")
        await client.drained()
    return took


def _bare_echo(count: int) -> list[float]:
    took: list[float] = []
    with subprocess.Popen(
        [sys.executable, "-c", _ECHO], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        for _ in range(count):
            began = time.perf_counter()
            child.stdin.write(b"hello\n")
            child.stdout.read(64)
            took.append(time.perf_counter() - began)
        child.stdin.close()
    return took


async def _relay_echo(count: int, folder: str) -> list[float]:
    took: list[float] = []
    relay = start_relay([sys.executable, "-c", _ECHO], cwd="/", parent=folder)
    async with await RelayClient.connect(relay.folder) as client:
        await client.attach(write=True)
        answers = client.records()
        for number in range(count):
            began = time.perf_counter()
            client.send(str(number), b"hello")
            async for record in answers:
                if record.kind == records.OUTPUT:
                    break
            took.append(time.perf_counter() - began)
        client.end_input()
        await client.drained()
    return took


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=int, default=200)
    parser.add_argument("--echoes", type=int, default=2000)
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="dragoman-relay-")
    try:
        bare = min(asyncio.run(_bare_flood(options.mb)) for _ in range(3))
        relayed = min(asyncio.run(_relay_flood(options.mb, folder)) for _ in range(3))
        direct = statistics.median(_bare_echo(options.echoes)) * 1000
        through = statistics.median(asyncio.run(_relay_echo(options.echoes, folder))) * 1000
    finally:
        shutil.rmtree(folder)
    ratio, added = bare / relayed, through - direct
    print(
        f"bytes a second: {ratio:.2f}x the bare pipe ({options.mb / relayed:.0f} MB/s; target 0.8x)"
    )
    print(f"an echo: {added:.2f} ms later than over the bare pipe (median; target < 1 ms)")
    return 0 if ratio >= 0.8 and added < 1 else 1


if __name__ == "__main__":
    sys.exit(main())
