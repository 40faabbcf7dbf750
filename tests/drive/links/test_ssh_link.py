"""Over a real ``sshd``: lines there and back, every failure, and nobody left behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from dragoman.drive.links.link import Exit, Link
from dragoman.drive.links.ssh import Remote
from dragoman.drive.links.ssh_link import open_ssh
from dragoman.drive.process.child import Grace, open_process
from dragoman.errors import AgentNotFound, InvalidWorkspace, ProcessExited
from dragoman.harnesses.contract.transport import Launch
from support.agents.remote_ends import (
    Heard,
    Sshd,
    bounded,
    find_codex,
    free_port,
    is_running,
    poll,
    processes,
)

ECHO = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)\nprint('the end')"
KEY = "sk-0123456789abcdefghij-the-key"
NAME = "CODEX_API_KEY"


def python(code: str, *arguments: str) -> Launch:
    return Launch(argv=(sys.executable, "-c", code, *arguments))


async def opened(
    launch: Launch, remote: Remote, secrets: Mapping[str, str] | None = None
) -> tuple[Link, Heard]:
    heard = Heard()
    return await open_ssh(launch, remote, secrets=secrets)(heard.receive, heard.close), heard


async def kill_ssh(link: Link, heard: Heard) -> None:
    assert link.pid is not None
    os.kill(link.pid, signal.SIGKILL)
    await heard.end()
    await bounded(link.stop())


def test_lines_go_there_and_back_until_the_end_of_input(sshd: Sshd) -> None:
    async def talk() -> None:
        link, heard = await opened(python(ECHO), sshd.remote())
        link.send([b'{"a":1}\n', "ünï\u2028☃\n".encode(), b"x" * 3_000_000 + b"\n"])
        lines = await heard.count(3)
        assert lines == [b'{"a":1}', "ünï\u2028☃".encode(), b"x" * 3_000_000]
        ended = await link.stop()
        assert heard.lines[3:] == [b"the end"]
        assert heard.closed == 1
        assert ended.code == 0

    asyncio.run(talk())


def test_a_key_reaches_the_agent_and_no_list_of_processes(sshd: Sshd) -> None:
    code = f"import os; print(os.environ['{NAME}'], flush=True)\n{ECHO}"

    async def talk() -> None:
        link, heard = await opened(python(code), sshd.remote(), {NAME: KEY})
        [line] = await heard.count(1)
        shown = processes(KEY)
        await link.stop()
        assert line == KEY.encode()
        assert shown == []
        assert KEY not in sshd.log.read_text("utf-8")

    asyncio.run(talk())


def test_a_key_that_an_agent_complains_of_is_not_shown(sshd: Sshd) -> None:
    code = f"import os, sys; sys.exit(os.environ['{NAME}'] + ' ' + os.environ['MY_TOKEN'])"
    launch = Launch(argv=(sys.executable, "-c", code), env={"MY_TOKEN": "another-secret"})

    async def talk() -> None:
        link, heard = await opened(launch, sshd.remote(), {NAME: KEY})
        await heard.end()
        await link.stop()
        assert link.stderr_tail == "sk-[secret] [secret]"

    asyncio.run(talk())


def test_an_agent_that_is_not_spoken_to_has_an_empty_input(sshd: Sshd) -> None:
    code = f"import os, sys; print(repr(sys.stdin.read()), os.environ['{NAME}'])"
    launch = Launch(argv=(sys.executable, "-c", code), stdin=False)

    async def talk() -> None:
        link, heard = await opened(launch, sshd.remote(), {NAME: KEY})
        assert await heard.end() == [f"'' {KEY}".encode()]
        assert (await link.stop()).code == 0

    asyncio.run(talk())


def test_odd_paths_and_arguments_arrive_as_they_are(sshd: Sshd, tmp_path: Path) -> None:
    workspace = tmp_path / 'it\'s a "wörk $(space)" ☃; `x` \\ & -n'
    workspace.mkdir()
    words = ["", "it's", 'two "words"', "$HOME", "`x`", "back\\slash", "☃", "a\tb", "*", "--", "!"]
    code = "import os, sys, json; print(json.dumps([os.getcwd(), *sys.argv[1:]]))"

    async def talk() -> None:
        link, heard = await opened(python(code, *words), sshd.remote(cwd=str(workspace)))
        [line] = await heard.end()
        await link.stop()
        assert json.loads(line) == [str(workspace), *words]

    asyncio.run(talk())


def test_a_workspace_that_is_not_there_is_named(sshd: Sshd, tmp_path: Path) -> None:
    with pytest.raises(InvalidWorkspace, match="no such place"):
        asyncio.run(opened(python(ECHO), sshd.remote(cwd=f"{tmp_path}/no such place")))


def test_an_agent_that_is_not_there_is_named_with_the_host(sshd: Sshd, tmp_path: Path) -> None:
    with pytest.raises(
        AgentNotFound, match=r"'no-such-agent' is not on the PATH of .*127\.0\.0\.1"
    ):
        asyncio.run(opened(Launch(argv=("no-such-agent",)), sshd.remote()))
    with pytest.raises(AgentNotFound):
        asyncio.run(opened(Launch(argv=(str(tmp_path / "none"),)), sshd.remote()))


def test_a_port_where_nobody_listens_is_a_failed_connection(sshd: Sshd) -> None:
    with pytest.raises(ProcessExited, match=r"could not connect to .*Connection refused") as caught:
        asyncio.run(opened(python(ECHO), sshd.remote(port=free_port())))
    assert caught.value.exit_code == 255
    assert caught.value.retryable


def test_another_host_key_than_the_known_one_is_refused(sshd: Sshd) -> None:
    other = (sshd.folder / "other_key.pub").read_text("utf-8").strip()

    with pytest.raises(ProcessExited, match="not the one it had") as caught:
        asyncio.run(opened(python(ECHO), sshd.remote(known=other, host_keys="accept-new")))
    assert not caught.value.retryable


def test_a_host_never_met_is_accepted_unless_told_otherwise(sshd: Sshd) -> None:
    with pytest.raises(ProcessExited, match="is not known"):
        asyncio.run(opened(python(ECHO), sshd.remote(known="", host_keys="yes")))

    async def talk() -> None:
        link, _ = await opened(python(ECHO), sshd.remote(known="", host_keys="accept-new"))
        await link.stop()

    asyncio.run(talk())


def test_a_key_that_is_not_accepted_is_not_tried_again(sshd: Sshd) -> None:
    with pytest.raises(ProcessExited, match="did not let us in") as caught:
        asyncio.run(opened(python(ECHO), sshd.remote(identity="other_key")))
    assert not caught.value.retryable


def test_what_a_login_prints_is_not_taken_for_the_agents_words(sshd: Sshd) -> None:
    async def talk() -> None:
        heard = Heard()
        remote = sshd.remote()

        def shout(launch: Launch) -> Launch:
            command = f"echo 'Welcome!'; printf 'no newline'; {launch.argv[-1]}"
            return Launch(argv=(*launch.argv[:-1], command), preamble=launch.preamble)

        link = await open_ssh(python(ECHO), remote, start=lambda plan: open_process(shout(plan)))(
            heard.receive, heard.close
        )
        link.send([b"hello\n"])
        assert await heard.count(1) == [b"hello"]
        await link.stop()

    asyncio.run(talk())


# Nobody is left behind.


def stubborn(tmp_path: Path) -> Launch:
    """An agent that cares neither for the end of its input nor for SIGTERM, and has a child."""
    code = (
        "import os, signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)', sys.argv[1]])\n"
        "print('here', flush=True)\n"
        "time.sleep(300)"
    )
    return python(code, f"stubborn-{tmp_path.name}-{os.getpid()}")


def test_when_ssh_is_killed_the_agent_ends(sshd: Sshd, tmp_path: Path) -> None:
    mark = f"agent-{tmp_path.name}-{os.getpid()}"

    async def talk() -> None:
        link, heard = await opened(python(ECHO, mark), sshd.remote())
        link.send([b"hello\n"])
        await heard.count(1)
        await kill_ssh(link, heard)

    asyncio.run(talk())
    assert poll(lambda: not is_running(mark))


def test_when_ssh_is_killed_a_stubborn_agent_and_its_children_end(
    sshd: Sshd, tmp_path: Path
) -> None:
    launch = stubborn(tmp_path)

    async def talk() -> None:
        link, heard = await opened(launch, sshd.remote())
        await heard.count(1)
        assert is_running(launch.argv[-1])
        await kill_ssh(link, heard)

    asyncio.run(talk())
    assert poll(lambda: not is_running(launch.argv[-1]))


def test_stopping_a_stubborn_agent_is_bounded_and_ends_it(sshd: Sshd, tmp_path: Path) -> None:
    launch = stubborn(tmp_path)
    grace = Grace(eof=0.2, terminate=2, kill=2, left=0.2)

    async def talk() -> None:
        heard = Heard()
        open_link = open_ssh(
            launch, sshd.remote(), start=lambda plan: open_process(plan, grace=grace)
        )
        link = await open_link(heard.receive, heard.close)
        await heard.count(1)
        await bounded(link.stop())

    asyncio.run(talk())
    assert poll(lambda: not is_running(launch.argv[-1]))


def test_a_lost_connection_is_told_as_one(sshd: Sshd) -> None:
    async def talk() -> Exit | None:
        link, heard = await opened(
            python("import os; print(os.getppid(), flush=True); import time; time.sleep(300)"),
            sshd.remote(),
        )
        [parent] = await heard.count(1)
        os.kill(int(parent), signal.SIGKILL)  # sshd's process for this connection
        await heard.end()
        await link.stop()
        return link.exit

    ended = asyncio.run(talk())
    assert ended is not None
    assert ended.code == 255
    assert "was lost with the connection to" in ended.reason


def test_what_an_agent_left_running_in_its_group_ends_with_it(sshd: Sshd, tmp_path: Path) -> None:
    mark = f"left-{tmp_path.name}-{os.getpid()}"
    child = f"[sys.executable, '-c', 'import time; time.sleep(300)', {mark!r}]"
    code = f"import subprocess, sys; subprocess.Popen({child}, stdout=2)"

    async def talk() -> None:
        link, heard = await opened(python(code), sshd.remote())
        await heard.end()
        await link.stop()

    asyncio.run(talk())
    assert poll(lambda: not is_running(mark))


def test_a_real_agent_answers_over_ssh_and_is_gone_when_ssh_is_killed(
    sshd: Sshd, tmp_path: Path
) -> None:
    home = tmp_path / f"home-{os.getpid()}"
    home.mkdir()
    launch = Launch(
        argv=(find_codex(), "app-server", "-c", f'model="{home.name}"'),
        env={"CODEX_HOME": str(home)},
    )
    greeting = (
        b'{"id":0,"method":"initialize","params":{"clientInfo":{"name":"t","version":"1"}}}\n'
    )

    async def talk() -> None:
        link, heard = await opened(launch, sshd.remote(cwd=str(tmp_path)))
        link.send([greeting])
        await heard.until(lambda: any(b'"id":0' in line for line in heard.lines))
        await kill_ssh(link, heard)

    asyncio.run(talk())
    assert poll(lambda: not is_running(home.name))
