"""Relays with a real process below them: nothing is lost, nothing is doubled, nothing is left."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from dragoman.drive.relay import records
from dragoman.drive.relay.client import RelayClient
from dragoman.drive.relay.journal import read_journal
from dragoman.drive.relay.listing import find_relay, list_relays, remove_old, stop_relay
from dragoman.drive.relay.records import Record
from dragoman.drive.relay.starting import StartedRelay, start_relay
from dragoman.errors import AgentError, AgentNotFound, UsageError

_SECONDS = 60
_ECHO = "import sys\nfor line in sys.stdin: print('got', line.strip(), flush=True)"
_COUNT = """
import sys
sys.stdin.readline()
for number in range({count}):
    print(number, "x" * 60)
sys.stdin.readline()
"""
Start = Callable[..., StartedRelay]


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "XDG_STATE_HOME": str(tmp_path)}


@pytest.fixture
def start(tmp_path: Path, env: dict[str, str]) -> Generator[Start]:
    """Start a relay with a Python program below it; what still runs at the end is ended."""
    started: list[StartedRelay] = []

    def begin(program: str, **more: object) -> StartedRelay:
        command = [sys.executable, "-c", program]
        relay = start_relay(command, cwd=str(tmp_path), environment=env, **more)  # pyright: ignore[reportArgumentType]
        started.append(relay)
        return relay

    yield begin
    for each in started:
        with suppress(ProcessLookupError):
            os.kill(each.pid, signal.SIGKILL)


def _run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, _SECONDS))


async def _outputs(client: RelayClient) -> list[bytes]:
    return [line async for record in client.records() for line in _lines(record)]


def _lines(record: Record) -> list[bytes]:
    return record.lines() if record.kind == records.OUTPUT else []


async def _numbers(client: RelayClient) -> list[int]:
    return [
        number async for record in client.records() for number in range(record.number, record.end)
    ]


async def _until(client: RelayClient, kind: bytes, content: bytes = b"") -> Record:
    async for record in client.records():
        if record.kind == kind and content in record.content:
            return record
    raise AssertionError(f"the stream ended before {content!r}")


def _kilobytes(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(status.partition("VmRSS:")[2].split()[0])


def _is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def _gone(*pids: int) -> bool:
    deadline = time.monotonic() + _SECONDS
    while any(map(_is_alive, pids)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def test_a_line_is_sent_once_however_often_it_is_sent_under_its_name(start: Start) -> None:
    async def work() -> None:
        relay = start(_ECHO)
        async with await RelayClient.connect(relay.folder) as client:
            await client.attach(write=True)
            client.send("a", b"one")
            client.send("a", b"one")
            await _until(client, records.OUTPUT, b"got one")
        # As after a lost connection: nobody knows whether it arrived, so it is sent again.
        async with await RelayClient.connect(relay.folder) as client:
            await client.attach(write=True)
            client.send("a", b"one")
            client.send("b", b"two")
            client.end_input()
            kept = [(record.kind, record.content) async for record in client.records()]
        assert [content for kind, content in kept if kind == records.INPUT] == [b"a one", b"b two"]
        output = b"\n".join(content for kind, content in kept if kind == records.OUTPUT)
        assert output == b"got one\ngot two"
        assert kept[-1] == (records.ENDED, b"0 ")

    _run(work())


def test_many_clients_attach_under_full_output_and_miss_nothing(start: Start) -> None:
    """Each attaches at another moment, at any number, and gets every record from there on, once."""
    lines = 20_000

    async def watch(relay: StartedRelay, delay: float, first: int) -> None:
        await asyncio.sleep(delay)
        async with await RelayClient.connect(relay.folder) as client:
            await client.attach(first)
            attached.append(first)
            if len(attached) == 40:
                are_all_there.set()
            numbers = await _numbers(client)
            assert numbers == [*range(first, numbers[-1] + 1)]
            assert numbers[-1] == last[0]

    async def work() -> None:
        chance = random.Random(5)
        relay = start(_COUNT.format(count=lines))
        async with await RelayClient.connect(relay.folder) as writer:
            await writer.attach(write=True)
            watchers = [
                asyncio.ensure_future(watch(relay, chance.random() / 2, chance.randint(1, 3)))
                for _ in range(40)
            ]
            writer.send("go", b"")
            await _until(writer, records.OUTPUT, b"%d " % (lines - 1))
            await are_all_there.wait()
            last[0] = await _next(relay) + 1  # the record of "end", and that of the end
            writer.send("end", b"")
            await asyncio.gather(*watchers)

    last, attached, are_all_there = [0], list[int](), asyncio.Event()
    _run(work())


async def _next(relay: StartedRelay) -> int:
    async with await RelayClient.connect(relay.folder) as client:
        return int((await client.status())["next"])


def test_a_sleeping_reader_holds_nobody_up(start: Start) -> None:
    async def work() -> None:
        relay = start(_COUNT.format(count=100_000))
        async with (
            await RelayClient.connect(relay.folder) as sleeper,
            await RelayClient.connect(relay.folder) as writer,
        ):
            await sleeper.attach()
            await writer.attach(write=True)
            writer.send("go", b"")
            await _until(writer, records.OUTPUT, b"99999 ")
            assert _kilobytes(relay.pid) < 30_000
            writer.send("end", b"")
            numbers = await _numbers(sleeper)
            assert numbers == [*range(1, len(numbers) + 1)]
            assert len(numbers) > 100_000

    _run(work())


def test_the_one_who_came_last_writes(start: Start) -> None:
    async def work() -> None:
        relay = start(_ECHO)
        async with (
            await RelayClient.connect(relay.folder) as first,
            await RelayClient.connect(relay.folder) as second,
        ):
            await first.attach(write=True)
            await second.attach(write=True)
            first.send("a", b"from the first")
            refused = await _until(first, records.REFUSED)
            assert refused.content == b"a another client has taken over"
            second.send("b", b"from the second")
            await _until(second, records.OUTPUT, b"got from the second")
            second.end_input()
            assert await _outputs(first) == [b"got from the second"]

    _run(work())


def test_a_reader_cannot_write(start: Start) -> None:
    async def work() -> None:
        relay = start(_ECHO)
        async with await RelayClient.connect(relay.folder) as reader:
            await reader.attach()
            reader.send("a", b"x")
            assert (await _until(reader, records.REFUSED)).content.startswith(b"a ")

    _run(work())


def test_a_very_long_line_arrives_whole(start: Start) -> None:
    async def work() -> None:
        relay = start("print('y' * 3_500_000 + 'z'); print('end')")
        async with await RelayClient.connect(relay.folder) as client:
            await client.attach()
            parts = [record async for record in client.records() if record.kind in (b"o", b"p")]
            ends = {records.OUTPUT: b"\n", records.PART: b""}
            whole = b"".join(each.content + ends[each.kind] for each in parts)
            assert whole == b"y" * 3_500_000 + b"z\nend\n"
            assert [each.kind for each in parts[:4]] == [b"p", b"p", b"p", b"o"]

    _run(work())


def test_the_relay_stays_when_its_starter_is_killed(tmp_path: Path, env: dict[str, str]) -> None:
    starter = (
        "import os, sys, time\n"
        "from dragoman.drive.relay.starting import start_relay\n"
        f"relay = start_relay([sys.executable, '-c', {_ECHO!r}], cwd='/')\n"
        "print(relay.folder, flush=True)\n"
        "time.sleep(600)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", starter], env=env, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    folder = process.stdout.readline().strip()
    process.kill()
    process.wait()
    process.stdout.close()
    [relay] = list_relays(env)
    assert (relay.folder, relay.is_running) == (folder, True)

    assert stop_relay(relay)
    assert _gone(relay.pid, relay.agent_pid)
    [relay] = list_relays(env)
    assert (relay.is_running, relay.exit_code, relay.why) == (False, 0, "a client stopped it")
    assert remove_old(env) == []
    assert remove_old(env, seconds=-1) == [relay.name]
    assert list_relays(env) == []
    with pytest.raises(UsageError, match="there is no relay"):
        find_relay(relay.name, env)


_STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
hidden = subprocess.Popen(["env", "-i", "setsid", "sleep", "600"])
print(hidden.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(
    sys.platform != "linux", reason="without a subreaper, a hidden process is not found"
)
def test_nothing_is_left_of_a_stubborn_agent_when_its_relay_is_killed(
    start: Start, env: dict[str, str]
) -> None:
    relay = start(_STUBBORN)

    async def hidden() -> int:
        async with await RelayClient.connect(relay.folder) as client:
            await client.attach()
            return int((await _until(client, records.OUTPUT)).content)

    pid = asyncio.run(hidden())
    agent = find_relay(relay.name, env).agent_pid
    assert _is_alive(pid)
    os.kill(relay.pid, signal.SIGKILL)

    assert _gone(pid, agent)
    assert not find_relay(relay.name, env).is_running
    assert [record.kind for record in read_journal(relay.folder)] == [records.OUTPUT]


def test_a_relay_without_an_owner_ends(start: Start, env: dict[str, str]) -> None:
    relay = start(_ECHO, unowned_seconds=0.2)

    assert _gone(relay.pid)
    assert find_relay(relay.name, env).why == "no owner for too long"


def test_the_agent_cannot_speak_to_its_own_relay(start: Start) -> None:
    """It could answer its own questions."""
    relay = start(
        "import os, socket, sys\n"
        "folder = sys.stdin.readline().strip()\n"
        "os.chdir(folder)\n"
        "s = socket.socket(socket.AF_UNIX)\n"
        "s.connect('socket')\n"
        "try:\n"
        "    s.sendall(b'status\\n')\n"
        "    print('answer', s.recv(100))\n"
        "except OSError:\n"
        "    print('answer', b'')\n"
    )

    async def work() -> None:
        async with await RelayClient.connect(relay.folder) as client:
            await client.attach(write=True)
            client.send("a", relay.folder.encode())
            assert (await _until(client, records.OUTPUT)).content == b"answer b''"

    _run(work())


def test_only_the_owner_can_look(start: Start) -> None:
    relay = start(_ECHO)
    folder = Path(relay.folder)

    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.name for path in folder.iterdir()} >= {"socket", "relay.json"}
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.iterdir())


def test_nonsense_ends_the_connection_and_not_the_relay(start: Start) -> None:
    async def work() -> None:
        relay = start(_ECHO)
        async with await RelayClient.connect(relay.folder) as client:
            client._writer.write(b"GET / HTTP/1.1\r\n\r\n")
            with pytest.raises(AgentError, match="closed the connection"):
                await client.attach()
        async with await RelayClient.connect(relay.folder) as client:
            assert (await client.attach()).first == 1

    _run(work())


def test_what_cannot_be_started_is_said(start: Start, tmp_path: Path, env: dict[str, str]) -> None:
    with pytest.raises(AgentNotFound, match="/no/such is not on this machine"):
        start_relay(["/no/such"], cwd=str(tmp_path), environment=env)
    start(_ECHO, name="one")
    with pytest.raises(AgentError, match="already a relay 'one'"):
        start(_ECHO, name="one")
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(AgentError, match="cannot make a folder"):
        start_relay(
            ["true"], cwd="/", environment={**env, "XDG_STATE_HOME": str(tmp_path / "file")}
        )
