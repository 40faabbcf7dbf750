from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("processes are looked at in /proc", allow_module_level=True)

from dragoman.drive.process.reaping import read_stat
from dragoman.drive.process.session_commands import (
    CommandLog,
    Finder,
    RunningCommand,
    boot_ticks,
    end,
    is_of,
    stopped_notice,
)
from dragoman.model.messages import ToolCall, ToolResult, TurnEnded, TurnStarted

_VARIABLE = "TEST_SESSION"
_SECONDS = 30


def call(command: str, number: str = "c1") -> ToolCall:
    return ToolCall(call_id=number, tool="Bash", native_tool="exec", input={"command": command})


def result(status: str = "ok", number: str = "c1") -> ToolResult:
    return ToolResult(call_id=number, status=status, output="")  # type: ignore[arg-type]


def test_a_log_knows_when_a_session_was_at_work() -> None:
    log = CommandLog("/w")
    assert not log.was_at_work(boot_ticks())
    log.see(TurnStarted(turn_id="t1"))
    assert log.was_at_work(boot_ticks())
    assert not log.ran_a_tool(boot_ticks())
    log.see(call("make"))
    assert log.ran_a_tool(boot_ticks())
    assert log.running() == ["make"]
    assert log.command_of("bash -lc make", boot_ticks()) == "make"
    assert log.command_of("bash -lc other", boot_ticks()) is None
    log.see(result())
    log.see(TurnEnded(turn_id="t1", outcome="completed"))
    assert log.running() == []
    assert not log.was_at_work(boot_ticks() + 1000)


def test_a_call_that_was_abandoned_may_still_run() -> None:
    log = CommandLog()
    log.see(call("serve"))
    log.see(result("abandoned"))
    assert log.running() == ["serve"]
    assert log.ran_a_tool(boot_ticks() + 1000)


@pytest.mark.parametrize(
    ("line", "command", "fits"),
    [
        ("bash -lc sleep 5", "sleep 5", True),
        ("sleep 5", "echo a; sleep 5", True),
        ("", "sleep 5", False),
        ("node server.js", "sleep 5", False),
    ],
)
def test_a_process_is_told_by_its_words(line: str, command: str, fits: bool) -> None:
    assert is_of(line, command) is fits


@pytest.mark.parametrize(
    ("stopped", "left", "text"),
    [
        ([RunningCommand(command="make", pid=7)], [], "stopped 1 command: make (pid 7)"),
        (
            [RunningCommand(command="a"), RunningCommand(command="b", pid=2)],
            [2, 3],
            "stopped 2 commands: a; b (pid 2); still there: pid 2, 3",
        ),
    ],
)
def test_what_was_stopped_is_one_sentence(
    stopped: Iterable[RunningCommand], left: list[int], text: str
) -> None:
    assert stopped_notice(stopped, left).text == text


@contextmanager
def running(script: str, **env: str) -> Generator[subprocess.Popen[bytes]]:
    """A stand-in for an agent: a shell whose children are its commands."""
    with subprocess.Popen(
        ["sh", "-c", script], stdout=subprocess.PIPE, env={"PATH": os.environ["PATH"], **env}
    ) as agent:
        assert agent.stdout is not None
        agent.stdout.readline()
        try:
            yield agent
        finally:
            agent.kill()


def finder(agent: subprocess.Popen[bytes], name: str, log: CommandLog | None = None) -> Finder:
    logs = log or CommandLog()
    return Finder(agent.pid, _VARIABLE, {name}, logs, [], has_supervisor=False)


def is_gone(pid: int) -> bool:
    return (stat := read_stat(pid)) is None or stat.state in "ZX"


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(_SECONDS):
        while not holds():  # noqa: ASYNC110  processes tell nobody
            await asyncio.sleep(0.02)


def test_only_what_carries_the_sessions_name_is_found_and_all_below_it() -> None:
    script = (
        f"{_VARIABLE}=one sh -c 'env -i sleep 91.1 & sleep 91.2; true' &"
        f"{_VARIABLE}=two sleep 91.3 & sleep 91.4 & echo up; wait"
    )

    async def story() -> None:
        with running(script) as agent:
            one, two = finder(agent, "one"), finder(agent, "two")
            await until(lambda: len(one.find()) == 3 and len(two.find()) == 1)
            assert one.find(boot_ticks() + 1000) == []
            assert [each.command for each in two.describe(two.find())] == ["sleep 91.3"]
            ours = [stat.pid for stat in one.find()]
            assert await end(one.find) == []
            assert all(map(is_gone, ours))
            assert len(two.find()) == 1
            await end(two.find)

    asyncio.run(story())


def test_a_child_without_a_name_is_told_by_the_words_of_a_running_command() -> None:
    async def story() -> None:
        with running("sleep 92.1 & sleep 92.2 & echo up; wait") as agent:
            log = CommandLog()
            log.see(call("sleep 92.1"))
            mine = finder(agent, "one", log)
            await until(lambda: len(mine.find()) == 1)
            [stat] = mine.find()
            other = CommandLog()
            other.see(call("sleep 92.1"))
            unsure = Finder(agent.pid, _VARIABLE, {"one"}, log, [other], has_supervisor=False)
            assert unsure.find() == [], "it may be of either"
            await end(mine.find)
            assert is_gone(stat.pid)

    asyncio.run(story())


def test_an_orphan_is_of_the_session_in_whose_folder_it_is(tmp_path: Path) -> None:
    """With a supervisor, whose first child is the agent and whose others are orphans."""
    (mine := tmp_path / "mine").mkdir()
    script = f"sleep 93.1 & sleep 0.05; cd {mine}; env -i sleep 93.2 & echo up; wait"

    async def story() -> None:
        with running(script) as agent:
            log, other = CommandLog(str(mine)), CommandLog(str(tmp_path / "theirs"))
            for each in (log, other):
                each.see(TurnStarted(turn_id="t1"))
            found = Finder(agent.pid, _VARIABLE, {"one"}, log, [other], has_supervisor=True)
            theirs = Finder(agent.pid, _VARIABLE, {"two"}, other, [log], has_supervisor=True)
            await until(lambda: len(found.find()) == 1)
            assert found.describe(found.find())[0].command == "sleep 93.2"
            assert theirs.find() == []
            await end(found.find)

    asyncio.run(story())


def test_an_orphan_is_of_the_session_whose_pipe_it_writes_to(tmp_path: Path) -> None:
    """Two sessions in one folder have a tool running, and each has left an orphan without a name."""
    ends = [os.pipe(), os.pipe()]
    lines = ["sleep 94.9 & sleep 0.05"]
    for number, (name, (_, write)) in enumerate(zip(("one", "two"), ends, strict=True), 1):
        to = f"</dev/null >/proc/{os.getpid()}/fd/{write} 2>&1 &"
        lines.append(f"{_VARIABLE}={name} sh -c 'sleep 94.{number}; true' {to}")
        lines.append(f"env -i sleep 94.{number}{number} {to}")
    script = "\n".join([*lines, "env -i sleep 94.3 </dev/null 2>&1 & echo up; wait"])

    async def story() -> None:
        with running(script) as agent:
            logs = [CommandLog(str(Path.cwd())) for _ in ends]
            for log in logs:
                log.see(TurnStarted(turn_id="t1"))
                log.see(call("make"))
            one = Finder(agent.pid, _VARIABLE, {"one"}, logs[0], logs[1:], has_supervisor=True)
            two = Finder(agent.pid, _VARIABLE, {"two"}, logs[1], logs[:1], has_supervisor=True)
            await until(lambda: len(one.find()) >= 3 and len(two.find()) >= 3)
            for found, mark in ((one, "94.1"), (two, "94.2")):
                said = [each.command for each in found.describe(found.find())]
                assert all(mark in line for line in said), said
                assert f"sleep {mark}{mark[-1]}" in said
            for found in (one, two):
                assert await end(found.find) == []
            assert one.find() == two.find() == [], "what shares nothing may be of either: it stays"

    try:
        asyncio.run(story())
    finally:
        for pair in ends:
            for handle in pair:
                os.close(handle)


def test_what_ignores_sigterm_is_killed() -> None:
    deaf = (
        "import signal,time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    )

    async def story() -> None:
        script = f"exec {sys.executable} -I -S -c '{deaf}'"
        with running(script) as agent:
            stat = read_stat(agent.pid)
            assert stat is not None
            assert await end(lambda: [], [stat]) == []
            assert agent.wait(_SECONDS) == -9

    asyncio.run(story())
