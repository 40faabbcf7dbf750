"""The real server in a process of its own, with the real agent and a stand-in model: it can be killed."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from dragoman.rehearsal import Rehearsal

_PROGRAM = """
import json, sys
from pathlib import Path
from dragoman.cli.commands.serve import Serving, run
given = json.loads(sys.argv[1])
raise SystemExit(run(Serving(
    data=Path(given["data"]), port=given["port"], roots=[Path(given["root"])],
    policy=Path(given["data"]) / "policy.toml", command=given["command"], env=given["env"],
    home=Path(given["home"]), opens=False,
)))
"""


class Server:
    """``with Server(folder, script, command) as server``: at ``server.address``, token and all."""

    def __init__(self, folder: Path, script: str, command: str) -> None:
        self.root = folder / "shop"
        self.root.mkdir()
        (self.root / "README.md").write_text("hello\n", encoding="utf-8")
        subprocess.run(["git", "init", "-q", str(self.root)], check=True, timeout=30)
        self._folder = folder
        self._rehearsal = Rehearsal(script)
        self._command = command
        self._process: subprocess.Popen[str] | None = None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self.address = ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Server:
        self._rehearsal.__enter__()
        self.home = self._rehearsal.codex_home
        """Where it looks for saved sessions, and where the agent keeps them, if nobody says otherwise."""
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop(signal.SIGTERM)
        self._rehearsal.__exit__(kind, error, trace)

    def sandboxes(self) -> list[str]:
        """Those that the agent has worked in, by its own account: one for each turn of all sessions."""
        files = sorted(self._rehearsal.codex_home.rglob("rollout-*.jsonl"))
        rows = [json.loads(line) for each in files for line in each.read_bytes().splitlines()]
        turns = [each["payload"] for each in rows if each["type"] == "turn_context"]
        return [each["sandbox_policy"]["type"] for each in turns]

    @property
    def token(self) -> str:
        return self.address.partition("#token=")[2]

    def save_a_session(self, prompt: str, cwd: Path | None = None) -> None:
        """What somebody did in a terminal, before or beside the page."""
        options = ["--skip-git-repo-check", "--sandbox", "danger-full-access"]
        subprocess.run(
            [self._command, "exec", *options, prompt],
            cwd=cwd or self.root,
            env=self._rehearsal.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=60,
        )

    def begin_a_session(self, *words: str) -> subprocess.Popen[bytes]:
        """The same, while it goes on."""
        options = ["--skip-git-repo-check", "--sandbox", "danger-full-access"]
        return subprocess.Popen(
            [self._command, "exec", *options, *words],
            cwd=self.root,
            env=self._rehearsal.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def resume_a_session(self, session_id: str, prompt: str) -> None:
        """Go on with a session in the terminal."""
        with self.begin_a_session("resume", session_id, prompt) as terminal:
            assert terminal.wait(60) == 0

    def start(self) -> None:
        env: Mapping[str, str] = self._rehearsal.env
        given = {
            "data": str(self._folder / "data"),
            "port": self.port,
            "root": str(self.root),
            "command": self._command,
            "env": {**env, "HOME": str(self._rehearsal.codex_home)},
            "home": str(self.home),
        }
        with (self._folder / "errors.txt").open("a") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, json.dumps(given)],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env={**os.environ, "XDG_CACHE_HOME": str(self._folder / "cache")},
            )
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().strip()
        assert self.address.startswith("http"), (self._folder / "errors.txt").read_text()

    def stop(self, sign: int) -> None:
        if self._process is None:
            return
        self._process.send_signal(sign)
        self._process.wait(30)
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._process = None
