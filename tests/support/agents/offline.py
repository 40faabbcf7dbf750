"""Runs a command where every address is this machine, and reports what it tried to reach besides loopback.

In a network namespace of its own, every IPv4 and IPv6 address is made local. Then a question for a host name arrives
here, whichever server it is sent to, and so does a connection to an address that the command knows by heart. Needs a
system that lets us make such a namespace, and the programs ``unshare`` and ``ip``.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_WEB_PORTS = (80, 443)
_DNS_PORT = 53
_TICK_SECONDS = 0.1
_NO_SUCH_NAME = b"\x81\x83"
_SETUP = (
    "ip link set lo up",
    "ip route add local 0.0.0.0/0 dev lo",
    "ip -6 route add local ::/0 dev lo || true",
)
_UNSHARE = ("unshare", "--net", "--map-root-user")


@dataclass(frozen=True)
class OfflineRun:
    """How a command ended, and what it tried."""

    exit_code: int
    stdout: str
    stderr: str
    looked_up: list[str]
    """Host names that it asked a server for."""
    contacted: list[str]
    """Addresses beyond loopback, and web servers on it, that it opened a connection to."""


def can_go_offline() -> bool:
    """Whether this machine lets us make a network of our own."""
    if sys.platform != "linux" or not all(map(shutil.which, ("unshare", "ip"))):
        return False
    script = " && ".join(_SETUP)
    tried = subprocess.run([*_UNSHARE, "sh", "-c", script], capture_output=True, timeout=30)
    return tried.returncode == 0


def run_offline(
    command: Sequence[str], folder: Path, *, env: Mapping[str, str], cwd: Path, seconds: float
) -> OfflineRun:
    """Run a command to its end in such a network; ``folder`` is for the report."""
    report = folder / "offline.json"
    script = f'{" && ".join(_SETUP)} && exec "$@"'
    words = [sys.executable, str(Path(__file__)), str(report), *command]
    done = subprocess.run(
        [*_UNSHARE, "sh", "-c", script, "offline", *words],
        env=dict(env),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    found = json.loads(report.read_bytes())
    looked_up, contacted = found["looked_up"], found["contacted"]
    return OfflineRun(done.returncode, done.stdout, done.stderr, looked_up, contacted)


class _Sink:
    """Listens where names and web pages are asked for."""

    def __init__(self) -> None:
        self.looked_up: list[str] = []
        self.contacted: list[str] = []
        self._over = threading.Event()
        self._threads: list[threading.Thread] = []
        for port in (_DNS_PORT, *_WEB_PORTS):
            listening = _bound(socket.SOCK_STREAM, port)
            listening.listen(64)  # before the command starts
            self._serve(listening, self._accept)
        self._serve(_bound(socket.SOCK_DGRAM, _DNS_PORT), self._answer)

    def finish(self) -> None:
        """Return when everything that has arrived is recorded."""
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _serve(self, listening: socket.socket, take: Callable[[socket.socket], None]) -> None:
        thread = threading.Thread(target=self._take_all, args=(listening, take), daemon=True)
        self._threads.append(thread)
        thread.start()

    def _take_all(self, listening: socket.socket, take: Callable[[socket.socket], None]) -> None:
        listening.settimeout(_TICK_SECONDS)
        while True:
            # Asked before the wait: what arrived before the end is then still taken.
            is_last = self._over.is_set()
            try:
                take(listening)
            except TimeoutError:
                if is_last:
                    return

    def _accept(self, listening: socket.socket) -> None:
        connection, _ = listening.accept()
        address, port = connection.getsockname()[:2]
        self.contacted.append(f"{address.removeprefix('::ffff:')}:{port}")
        connection.close()

    def _answer(self, listening: socket.socket) -> None:
        question, sender = listening.recvfrom(4096)
        self.looked_up.append(_name_in(question))
        with suppress(OSError):
            # The client takes an answer only from the address that it asked; on loopback that is often this one.
            listening.sendto(question[:2] + _NO_SUCH_NAME + question[4:], sender)


def _bound(kind: socket.SocketKind, port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET6, kind)
    listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("::", port))
    return listening


def _name_in(question: bytes) -> str:
    """The name in a DNS question."""
    labels: list[str] = []
    at = 12
    while at < len(question) and (length := question[at]):
        labels.append(question[at + 1 : at + 1 + length].decode("latin-1"))
        at += 1 + length
    return ".".join(labels)


def _main(report: str, command: list[str]) -> int:
    sink = _Sink()
    code = subprocess.run(command, check=False).returncode
    sink.finish()
    found = {"looked_up": sink.looked_up, "contacted": sink.contacted}
    Path(report).write_text(json.dumps(found), encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1], sys.argv[2:]))
