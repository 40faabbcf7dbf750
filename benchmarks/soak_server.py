"""``dragoman serve`` as a program of its own, for soak.py: to be used, weighed, killed and started again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TypeAlias

from codex_cli_bin import bundled_codex_path

from dragoman.rehearsal import Rehearsal

Held: TypeAlias = dict[str, float]
"""What the server holds, by name."""


class Server:
    """``dragoman serve``, which can be killed and started again."""

    def __init__(self, folder: Path, stage: Rehearsal) -> None:
        self.folder, self.data, self.root = folder, folder / "data", folder / "root"
        self.root.mkdir()
        subprocess.run(["git", "init", "-q", str(self.root)], check=True)
        self._env = {**stage.environ, "HOME": str(stage.codex_home)}
        self._env["XDG_CACHE_HOME"] = str(folder / "cache")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self.token = ""
        self.process: subprocess.Popen[str] | None = None

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def start(self) -> None:
        words = ["serve", "--no-open", "--port", str(self.port), "--root", str(self.root)]
        words += ["--data", str(self.data), "--command", str(bundled_codex_path())]
        with (self.folder / "errors.txt").open("a") as errors:
            self.process = subprocess.Popen(
                [str(Path(sys.executable).with_name("dragoman")), *words],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=self._env,
            )
        assert self.process.stdout is not None
        address = self.process.stdout.readline().strip()
        assert "#token=" in address, (self.folder / "errors.txt").read_text()
        self.token = address.partition("#token=")[2]

    def end(self, sign: signal.Signals) -> int:
        assert self.process is not None
        self.process.send_signal(sign)
        code = self.process.wait(30)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code

    def ours(self) -> dict[int, str]:
        """All processes that have our folder in their environment, by their number."""
        mark, found = f"{self.folder}/cache".encode(), dict[int, str]()
        for path in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (path / "environ").read_bytes():  # of a zombie there is none
                    found[int(path.name)] = (path / "comm").read_text().strip()
            except OSError:
                continue
        return found

    def open_files(self) -> Counter[str]:
        """What its file descriptors are, and how many of each."""
        kinds = Counter[str]()
        for path in Path(f"/proc/{self.pid}/fd").iterdir():
            try:
                kinds[Path(os.readlink(path)).name.split(":[")[0]] += 1
            except OSError:
                continue
        return kinds

    def sample(self) -> Held:
        ours, own = self.ours(), Path(f"/proc/{self.pid}")
        agents = [pid for pid, name in ours.items() if name.startswith("codex")]
        status = (own / "status").read_text()
        return {
            "processes": len(ours),
            "zombies": children(self.pid, "Z"),
            "fds": len(list((own / "fd").iterdir())),
            "threads": float(status.partition("Threads:")[2].split()[0]),
            "memory MB": resident_mb(self.pid),
            "agent MB": sum(resident_mb(pid) for pid in agents),
            "store MB": sum(p.stat().st_size for p in self.data.glob("live.db*")) / 1e6,
        }


def resident_mb(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def children(parent: int, state: str) -> int:
    count = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        count += words[0] == state and int(words[1]) == parent
    return count
