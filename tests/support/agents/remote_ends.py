"""The other ends that links are tested against: a real sshd, a real agent; and an ear on our side."""

from __future__ import annotations

import asyncio
import getpass
import importlib
import importlib.util
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, TypeVar

import pytest

from dragoman.drive.links.ssh import HostKeys, Remote
from dragoman.wire.lines import LongLine

T = TypeVar("T")
SECONDS = 60
"""The bound of every wait."""


class Heard:
    """What a link hands over."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.closed = 0
        self._news = asyncio.Event()

    def receive(self, lines: list[bytes | LongLine]) -> None:
        self.lines += [line if isinstance(line, bytes) else line.head for line in lines]
        self._news.set()

    def close(self) -> None:
        self.closed += 1
        self._news.set()

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(SECONDS):
            while not holds():
                self._news.clear()
                await self._news.wait()

    async def count(self, lines: int) -> list[bytes]:
        await self.until(lambda: len(self.lines) >= lines)
        return self.lines

    async def end(self) -> list[bytes]:
        await self.until(lambda: self.closed > 0)
        return self.lines


async def bounded(awaitable: Awaitable[T]) -> T:
    async with asyncio.timeout(SECONDS):
        return await awaitable


def missing(what: str) -> NoReturn:
    """Skip for want of something; but where everything should be there, fail."""
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def poll(holds: Callable[[], bool], seconds: float = SECONDS) -> bool:
    """Wait, with a bound, for what tells nobody when it comes."""
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def is_running(word: str) -> bool:
    return bool(processes(word))


def processes(word: str) -> list[str]:
    listing = subprocess.run(
        ["ps", "-eww", "-o", "pid=,args="], capture_output=True, check=True, timeout=SECONDS
    )
    return [line for line in listing.stdout.decode("utf-8", "replace").split("\n") if word in line]


# ssh.


@dataclass(frozen=True)
class Sshd:
    """A server of our own on this machine."""

    port: int
    folder: Path
    host_key: str
    log: Path

    def remote(
        self,
        *,
        cwd: str | None = None,
        host_keys: HostKeys = "yes",
        known: str | None = None,
        identity: str = "user_key",
        port: int | None = None,
    ) -> Remote:
        """The way to it; ``known`` is the host key that is expected."""
        hosts = self.folder / f"known_{abs(hash(known))}"
        if known != "":
            hosts.write_text(f"[127.0.0.1]:{self.port} {known or self.host_key}\n", "utf-8")
        return Remote(
            host="127.0.0.1",
            user=getpass.getuser(),
            port=port or self.port,
            identity=str(self.folder / identity),
            host_keys=host_keys,
            options=(f"UserKnownHostsFile={hosts}", "GlobalKnownHostsFile=/dev/null"),
            connect_timeout=10,
            cwd=cwd,
        )


def find_sshd() -> str:
    places = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"
    if shutil.which("ssh") is None:
        missing("these tests need OpenSSH's client, ssh")
    found = shutil.which("sshd", path=places)
    if found is None and os.environ.get("CI") and os.getuid() == 0 and shutil.which("apt-get"):
        install = ["apt-get", "-o", "DPkg::Lock::Timeout=120", "install", "-y", "openssh-server"]
        subprocess.run(install, check=False, capture_output=True, timeout=300)
        found = shutil.which("sshd", path=places)
    return found or missing("these tests need OpenSSH's server: apt-get install openssh-server")


def make_key(path: Path) -> str:
    """A new key pair; the public half."""
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(path)]
    subprocess.run(command, check=True, timeout=SECONDS)
    return " ".join(path.with_suffix(".pub").read_text("utf-8").split()[:2])


@contextmanager
def running_sshd(folder: Path) -> Generator[Sshd]:
    program = find_sshd()
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    host_key = make_key(folder / "host_key")
    make_key(folder / "other_key")
    (folder / "authorized_keys").write_text(make_key(folder / "user_key") + "\n", "utf-8")
    port = free_port()
    config = folder / "sshd_config"
    config.write_text(
        f"ListenAddress 127.0.0.1\nPort {port}\nHostKey {folder}/host_key\n"
        f"AuthorizedKeysFile {folder}/authorized_keys\nPidFile {folder}/sshd.pid\n"
        "UsePAM no\nStrictModes no\nPermitRootLogin yes\nPasswordAuthentication no\n"
        "KbdInteractiveAuthentication no\nPrintMotd no\nMaxStartups 100\n",
        "utf-8",
    )
    # A newer server turns away for a while whoever failed to log in, as some tests do.
    lenient = folder / "sshd_lenient"
    lenient.write_text(f"{config.read_text('utf-8')}PerSourcePenalties no\n", "utf-8")
    if subprocess.run([program, "-t", "-f", lenient], capture_output=True).returncode == 0:
        config = lenient
    log = folder / "sshd.log"
    with log.open("wb") as out:
        server = subprocess.Popen([program, "-D", "-e", "-f", config], stdout=out, stderr=out)
    try:
        if not poll(lambda: is_listening(port) or server.poll() is not None):
            pytest.fail(f"sshd does not listen: {log.read_text('utf-8')}")
        if server.poll() is not None:
            pytest.fail(f"sshd ended: {log.read_text('utf-8')}")
        yield Sshd(port, folder, host_key, log)
    finally:
        server.terminate()
        server.wait(SECONDS)


# A real agent.


def find_codex() -> str:
    if importlib.util.find_spec("codex_cli_bin") is not None:
        return str(importlib.import_module("codex_cli_bin").bundled_codex_path())
    found = shutil.which("codex")
    return found or missing("these tests need Codex: pip install openai-codex-cli-bin")


@contextmanager
def serving_codex(home: Path, *arguments: str, ready: Callable[[], bool]) -> Generator[int]:
    """``codex app-server`` with these arguments; its process id."""
    command = [find_codex(), "app-server", *arguments]
    log = home / "server.log"
    with log.open("wb") as out:
        server = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            cwd=home,
            env={**os.environ, "CODEX_HOME": str(home)},
        )
    try:
        if not poll(lambda: ready() or server.poll() is not None) or server.poll() is not None:
            pytest.fail(f"the server does not listen: {log.read_text('utf-8', 'replace')}")
        yield server.pid
    finally:
        server.kill()
        server.wait(SECONDS)
