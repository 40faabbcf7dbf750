"""The program itself takes every command line we make. Its model is a door that says no."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from dragoman import Prompt, SessionStarted, TurnEnded
from dragoman.harnesses.codex.exec.launch import exec_launch
from dragoman.harnesses.codex.exec.run import ExecRun
from dragoman.harnesses.codex.versions import parse_version
from dragoman.harnesses.contract.transport import OneShot

_PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6364f8cf"
    "500f000386018 05a347d6b0000000049454e44ae426082".replace(" ", "")
)


class _Door(BaseHTTPRequestHandler):
    """Refuses every request. A port where nobody listens would not do: since 0.148 the program
    waits for the network, however few retries it may make."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.send_response(400)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"no")

    do_GET = do_POST

    def log_message(self, format: str, *args: Any) -> None:
        """Not here."""


@contextmanager
def _door() -> Generator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Door) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()


class Program:
    def __init__(self, path: str, home: Path, address: str) -> None:
        self.path = path
        self._address = address
        self.work = home / "work"
        self._env = {"PATH": os.defpath, "HOME": str(home), "CODEX_HOME": str(home / "codex")}
        self.work.mkdir()
        (home / "codex").mkdir()
        (self.work / "a.png").write_bytes(_PIXEL)
        (self.work / "schema.json").write_text('{"type": "object"}', encoding="utf-8")
        (home / "codex" / "p.config.toml").write_text('model_verbosity = "low"\n', encoding="utf-8")
        asked = subprocess.run([path, "--version"], capture_output=True, check=True, timeout=20)
        self.release = parse_version(asked.stdout.decode())

    def run(self, prompt: str = "do it", *extra: str, **facts: Any) -> tuple[str | None, TurnEnded]:
        """Start one; its session, and its end."""
        config: dict[str, Any] = {
            "model_provider": "door",
            "model_providers.door": {
                "name": "door",
                "base_url": self._address,
                "wire_api": "responses",
                "request_max_retries": 0,
                "stream_max_retries": 0,
            },
            "analytics.enabled": False,
            "features.plugins": False,
        }
        shot = OneShot(prompt=prompt, cwd=str(self.work), config=config, **facts)
        launch = exec_launch(self.path, self.release, shot)
        argv = [*launch.argv[:2], *extra, *launch.argv[2:]]
        done = subprocess.run(
            argv,
            cwd=launch.cwd,
            env=self._env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=60,
        )
        run = ExecRun(self.release, shot)
        for line in done.stdout.split(b"\n")[:-1]:
            run.receive_line(line)
        run.receive_exit(done.returncode, stderr_tail=done.stderr.decode())
        messages = run.messages()
        assert [each.text for each in messages if isinstance(each, Prompt)] == [prompt]
        [end] = [each for each in messages if isinstance(each, TurnEnded)]
        begun = [each.session_id for each in messages if isinstance(each, SessionStarted)]
        return (begun[0] if begun else None), end


@pytest.fixture
def program(tmp_path: Path) -> Generator[Program]:
    carrier = pytest.importorskip("codex_cli_bin")
    with _door() as address:
        yield Program(str(carrier.bundled_codex_path()), tmp_path, address)


def _is_about_the_model(end: TurnEnded) -> bool:
    """It took the command line, began to work, and asked its model."""
    return end.error is not None and end.error.message == "no" and end.outcome == "failed"


def test_every_option_is_taken_with_a_new_session_a_resumed_one_and_a_fork(
    program: Program,
) -> None:
    everything: dict[str, Any] = {
        "sandbox": "read-only",
        "model": "gpt-5",
        "effort": "high",
        "images": ("a.png", "a.png"),
        "output_schema": "schema.json",
        "profile": "p",
        "add_dirs": (str(program.work),),
    }
    session, end = program.run("--help", **everything)
    assert session
    assert _is_about_the_model(end), end

    again, end = program.run("resume", resume=session, **everything)
    assert again == session
    assert _is_about_the_model(end), end

    branch, end = program.run("-x", fork=session, **everything)
    assert branch not in (None, session)
    assert _is_about_the_model(end), end


def test_little_is_enough_and_nothing_is_left(program: Program) -> None:
    session, end = program.run("", ephemeral=True)

    assert session
    assert _is_about_the_model(end), end
    assert not list((program.work.parent / "codex").glob("sessions/**/*.jsonl"))


@pytest.mark.parametrize(
    ("extra", "facts", "why"),
    [
        (("--nope",), {}, "error: unexpected argument '--nope' found (exited with status 2)"),
        ((), {"skip_git_check": False}, "Not inside a trusted directory"),
        ((), {"resume": "01990000-0000-7000-8000-000000000000"}, "no rollout found"),
        ((), {"output_schema": "nope.json"}, "Failed to read output schema file nope.json"),
    ],
)
def test_a_run_that_is_refused_says_why(
    program: Program, extra: tuple[str, ...], facts: dict[str, Any], why: str
) -> None:
    session, end = program.run("do it", *extra, **facts)

    assert session is None
    assert end.error is not None
    assert why in end.error.message
    assert (end.error.kind, end.error.retryable) == ("response_error", False)
