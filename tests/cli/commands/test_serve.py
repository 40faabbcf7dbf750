from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from dragoman.cli.commands import serve
from dragoman.cli.commands.serve import Serving, check, data_folder, take_token
from dragoman.cli.main import main
from dragoman.errors import UsageError
from dragoman.web.server import listen


def test_the_token_is_new_with_each_start() -> None:
    assert take_token({}) != take_token({})
    assert len(take_token({})) >= 43


def test_a_token_of_ones_own_is_not_left_for_agents_to_inherit() -> None:
    environment = {"DRAGOMAN_TOKEN": "t" * 32, "HOME": "/home/u"}

    assert take_token(environment) == "t" * 32
    assert environment == {"HOME": "/home/u"}


@pytest.mark.parametrize("given", ["short", "t" * 31, "t" * 32 + "\n" + "t", "\u00e9" * 40])
def test_a_token_that_can_be_guessed_is_refused(given: str) -> None:
    with pytest.raises(UsageError, match="DRAGOMAN_TOKEN"):
        take_token({"DRAGOMAN_TOKEN": given})


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.7", "::"])
def test_other_machines_are_let_in_only_by_a_name_that_was_allowed(
    host: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="--allow-remote NAME"):
        check(Serving(data=tmp_path, host=host))
    check(Serving(data=tmp_path, host=host, names=["box.example"]))
    for name in ("*", "http://box", " box", ""):
        with pytest.raises(UsageError):
            check(Serving(data=tmp_path, host=host, names=[name]))


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(_name: str) -> None:
        return None

    monkeypatch.setattr(serve, "find_spec", nothing)

    with pytest.raises(UsageError, match=r"dragoman\[web\]"):
        check(Serving(data=tmp_path))


def test_a_port_in_use_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = str(taken.getsockname()[1])
        code = main(["serve", "--port", port, "--data", str(tmp_path), "--root", str(tmp_path)])

    assert code == 2
    assert (
        capsys.readouterr().err == f"dragoman: port {port} is in use (--port 0 picks a free one)\n"
    )


def test_help_is_there_without_the_packages() -> None:
    told = CliRunner().invoke(serve.serve, ["--help"])

    assert told.exit_code == 0
    assert "--allow-remote" in told.output


def test_where_sessions_are_kept() -> None:
    assert data_folder({"XDG_DATA_HOME": "/x"}) == Path("/x/dragoman")


class Running:
    """The command in a process of its own, from its address to its end."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "dragoman.cli.main", *arguments],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache")},
            text=True,
        )

    def __enter__(self) -> Running:
        assert self._process.stdout is not None
        address = self._process.stdout.readline().strip()
        found = re.fullmatch(r"(http://127\.0\.0\.1:\d+)(/\S*)#token=([\w-]{43})", address)
        assert found, address
        place, self.path, self.token = found.groups()
        bearer = {"Authorization": f"Bearer {self.token}"}
        self.client = httpx.Client(base_url=place, headers=bearer, timeout=20)
        return self

    def end(self, number: int) -> str:
        """Tell it to end; what it said on standard error."""
        self._process.send_signal(number)
        _, errors = self._process.communicate(timeout=20)
        assert self._process.returncode == 0, errors
        assert self.token not in errors
        assert "Traceback" not in errors
        return errors

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self._process.kill()
        self._process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_without_an_agent_and_ends_when_told(tmp_path: Path, number: int) -> None:
    """The address is printed, the page answers, and nothing is left in the end."""
    arguments = ["--port", "0", "--no-open", "--data", "data", "--root", ".", "--command", "./none"]
    with Running(tmp_path, "serve", *arguments) as running:
        assert running.client.get("/").status_code == 200
        first, *_ = running.client.get("/api/v1/harnesses").json()["harnesses"]
        assert first["problem"]
        running.end(number)


def test_the_demo_on_the_page_from_its_question_to_its_answer(tmp_path: Path) -> None:
    """The real agent and the stand-in model; a reader of the stream sees the turn end."""
    with Running(tmp_path, "demo", "--page", "--quick", "--no-open") as running:
        session = running.path.removeprefix("/s/")
        decided = False
        with running.client.stream("GET", f"/api/v1/sessions/{session}/stream") as response:
            for line in response.iter_lines():
                if '"type":"approval_requested"' in line and '"kind":"edit"' in line:
                    approval = json.loads(line.removeprefix("data: "))["message"]["approval_id"]
                    given = {"session_id": session, "decision": "allow"}
                    answer = running.client.post(f"/api/v1/approvals/{approval}", json=given)
                    decided = answer.status_code == 204
                if '"type":"turn_ended"' in line:
                    assert '"outcome":"completed"' in line
                    break
        assert decided
        known = running.client.get(f"/api/v1/sessions/{session}").json()
        assert known["state"] == "done"
        running.end(signal.SIGTERM)
