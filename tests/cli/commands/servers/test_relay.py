"""The commands as a person and a program at the other end of ssh use them."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from dragoman.drive.relay import records
from dragoman.drive.relay.client import RelayClient
from support.terminal.ptys import at_a_terminal

_DRAGOMAN = str(Path(sys.executable).with_name("dragoman"))
_ECHO = "import sys\nprint('ready', flush=True)\nfor line in sys.stdin: print('got', line.strip(), flush=True)"
_SECONDS = 60


class Commands:
    def __init__(self, state: Path) -> None:
        self.env = {**os.environ, "XDG_STATE_HOME": str(state)}

    def __call__(self, *words: str, given: str = "") -> tuple[int, str, str]:
        done = subprocess.run(
            [_DRAGOMAN, "relay", *words],
            env=self.env,
            input=given,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def listed(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self("list", "--all", "--json")[1].splitlines()]


@pytest.fixture
def relay(tmp_path: Path) -> Generator[Commands]:
    commands = Commands(tmp_path)
    yield commands
    for each in commands.listed():
        commands("stop", each["name"])


def test_start_attach_list_and_stop(relay: Commands, tmp_path: Path) -> None:
    code, out, err = relay("start", "--name", "one", "--", sys.executable, "-c", _ECHO)
    assert (code, out, err) == (0, "one\n", "")
    with at_a_terminal([_DRAGOMAN, "relay", "attach", "one"], env=relay.env, cwd=tmp_path) as shown:
        shown.wait_for("ready")
        shown.type("hello\n")
        shown.wait_for("got hello")
        assert relay("list")[1].split()[:2] == ["one", "attached"]
        shown.type("\x03")
        assert shown.ended() == 130
    assert relay("list")[1].split()[:2] == ["one", "running"]

    code, _, _ = relay("stop", "one")
    assert code == 0
    assert relay("list")[1:] == ("", "no relay is running\n")
    assert "ended (0)" in relay("list", "--all")[1]
    assert relay("stop", "one") == (0, "", "one has ended already\n")
    assert relay("attach", "one")[0] == 1


def test_the_exit_code_is_that_of_the_program(relay: Commands) -> None:
    relay("start", "--name", "one", "--", "sh", "-c", "read line; echo $line; exit 7")

    code, out, _ = relay("attach", "one", given="hello\n")
    assert (code, out) == (7, "hello\n")


def test_mistakes_are_answered_in_a_sentence(relay: Commands) -> None:
    for words, code, said in (
        (("attach", "nope"), 2, "there is no relay 'nope'"),
        (("stop", "nope"), 2, "there is no relay 'nope'"),
        (("start", "--", "/no/such"), 1, "/no/such is not on this machine"),
        (("start", "--name", "../x", "--", "true"), 2, "letters, digits"),
        (("start",), 2, "Missing argument"),
    ):
        ended, out, err = relay(*words)
        assert (ended, out) == (code, "")
        assert said in err
        assert "Traceback" not in err


def test_a_pipe_carries_the_same_as_the_socket(relay: Commands) -> None:
    """As ``ssh host dragoman relay pipe NAME`` does."""
    relay("start", "--name", "one", "--", sys.executable, "-c", _ECHO)

    async def work() -> list[bytes]:
        process = await asyncio.create_subprocess_exec(
            *(_DRAGOMAN, "relay", "pipe", "one"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=relay.env,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        async with RelayClient(process.stdout, process.stdin) as client:
            greeting = await client.attach(write=True)
            assert greeting.fence == 1
            client.send("a", b"far away")
            client.end_input()
            kept = [record async for record in client.records()]
        await process.wait()
        return [line for each in kept if each.kind == records.OUTPUT for line in each.lines()]

    assert asyncio.run(asyncio.wait_for(work(), _SECONDS)) == [b"ready", b"got far away"]
