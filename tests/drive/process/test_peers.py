"""Who is at the other end of a connection: real processes, real sockets."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path

import pytest

from dragoman.drive.process import peers
from dragoman.drive.process.peers import Peers
from dragoman.drive.process.reaping import TAG, Known, read_stat

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it is read from Linux's /proc")

_TALK = """
import os, socket, sys
{before}
made = socket.socket({family})
made.connect(({host!r}, {port}))
print(os.getpid(), flush=True)
sys.stdin.read(1)
"""


class Door:
    """A server's socket, and programs that connect to it."""

    def __init__(self, stack: ExitStack, host: str = "127.0.0.1") -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._stack = stack
        self._listening = stack.enter_context(socket.socket(family))
        self._listening.bind((host, 0))
        self._listening.listen()
        self.port: int = self._listening.getsockname()[1]
        self.program: subprocess.Popen[str] | None = None

    def knock(
        self,
        *,
        host: str = "127.0.0.1",
        family: str = "socket.AF_INET",
        before: str = "",
        launcher: tuple[str, ...] = (),
        tag: str | None = None,
    ) -> tuple[tuple[str, int], tuple[str, int], int]:
        """Have a program connect: both addresses, and its number."""
        code = _TALK.format(before=before, family=family, host=host, port=self.port)
        env = {name: value for name, value in os.environ.items() if name != TAG}
        self.program = self._stack.enter_context(
            subprocess.Popen(
                [*launcher, sys.executable, "-c", code],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={**env, TAG: tag} if tag else env,
            )
        )
        self._stack.callback(self.program.kill)
        accepted, address = self._listening.accept()
        self._stack.enter_context(accepted)
        assert self.program.stdout is not None
        pid = int(self.program.stdout.readline())
        return address[:2], accepted.getsockname()[:2], pid


@pytest.fixture
def door() -> Generator[Door]:
    with ExitStack() as stack:
        yield Door(stack)


def known(pid: int, tag: str = "t") -> Known:
    stat = read_stat(pid)
    assert stat is not None
    return Known(tag, pid, stat.start)


def test_a_program_is_the_agents_if_it_is_the_agent(door: Door) -> None:
    client, server, pid = door.knock()

    assert Peers().find(client, server, [known(pid)]) == "agent"
    assert Peers().find(client, server, []) == "other"
    assert Peers().find(client, server, [Known("t", os.getppid(), 1 << 60)]) == "other"


def test_a_program_that_a_shell_of_the_agent_started_is_the_agents(door: Door) -> None:
    client, server, _ = door.knock(launcher=("sh", "-c", 'setsid env -i "$@"; true', "sh"))
    assert door.program is not None

    assert Peers().find(client, server, [known(door.program.pid)]) == "agent"


def test_a_program_with_the_agents_tag_is_the_agents_wherever_it_is(door: Door) -> None:
    client, server, _ = door.knock(tag="outer:mine")

    assert Peers().find(client, server, [Known("mine")]) == "agent"
    assert Peers().find(client, server, [Known("yours")]) == "other"


def test_the_other_spelling_of_an_address_hides_nobody(door: Door) -> None:
    client, server, pid = door.knock(host="::ffff:127.0.0.1", family="socket.AF_INET6")

    assert Peers().find(client, server, [known(pid)]) == "agent"


def test_another_loopback_address_hides_nobody(door: Door) -> None:
    client, server, pid = door.knock(
        before="""
make = socket.socket
def bound(*given):
    made = make(*given)
    made.bind(("127.3.2.1", 0))
    return made
socket.socket = bound
"""
    )

    assert client[0] == "127.3.2.1"
    assert Peers().find(client, server, [known(pid)]) == "agent"


def test_ipv6_is_seen_as_well() -> None:
    with ExitStack() as stack:
        door = Door(stack, "::1")
        client, server, pid = door.knock(host="::1", family="socket.AF_INET6")

        assert Peers().find(client, server, [known(pid)]) == "agent"
        assert Peers().find(client, server, []) == "other"


def test_a_program_that_sent_something_and_left_is_nobody(door: Door) -> None:
    client, server, pid = door.knock()
    assert door.program is not None
    door.program.kill()
    door.program.wait()

    assert Peers().find(client, server, [known(os.getpid())]) == "gone"
    assert pid


def test_a_connection_from_elsewhere_is_unknown() -> None:
    assert Peers().find(("192.0.2.7", 4000), ("192.0.2.1", 8787), []) == "unknown"


def test_a_program_that_hides_what_it_holds_counts_as_the_agents_if_it_is_below_it(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, server, pid = door.knock()

    def hidden(each: int) -> frozenset[int] | None:
        return None if each == pid else frozenset()

    monkeypatch.setattr(peers, "sockets_of", hidden)

    assert Peers().find(client, server, []) == "other"
    assert Peers().find(client, server, [Known("t", pid, 0)]) == "agent"
    # The agent's own program hides it too, and it is there from the beginning.
    assert Peers().find(client, server, [known(pid)]) == "other"


def test_a_program_that_asks_the_kernel_to_hide_it_is_found(door: Door) -> None:
    client, server, pid = door.knock(before="import ctypes; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)")

    assert Peers().find(client, server, [Known("t", pid, 0)]) == "agent"


def test_who_asked_lately_is_found_without_looking_at_everyone(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Peers()
    client, server, _ = door.knock()
    assert found.find(client, server, []) == "other"
    looked: list[int] = []
    sockets_of = peers.sockets_of

    def counted(each: int) -> frozenset[int] | None:
        looked.append(each)
        return sockets_of(each)

    monkeypatch.setattr(peers, "sockets_of", counted)

    assert found.find(client, server, []) == "other"
    assert looked == []


def test_where_there_is_no_proc_nothing_is_known(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(peers, "TABLES", (str(tmp_path / "tcp"),))

    assert Peers().find(("127.0.0.1", 4000), ("127.0.0.1", 8787), []) == "unknown"
