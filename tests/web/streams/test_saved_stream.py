"""A session that the real program writes in a terminal is followed exactly, on every way there is."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import codex_cli_bin as paths
import httpx
import pytest

import dragoman
from dragoman.model.messages import Delta, encode
from support.page.server import Server

# A turn goes on until the test touches its file in the folder that the agent works in.
_SCRIPT = """
turns:
  - - say: {text: I will look., phase: commentary}
    - run: {command: "until [ -e first ]; do sleep 0.1; done", wait: 600}
    - say: The first answer.
  - - run: {command: "until [ -e second ]; do sleep 0.1; done", wait: 600}
    - say: The second answer.
  - when: forever
    steps:
      - run: {command: sleep 120, wait: 120}
otherwise: Anything else.
"""
_SECONDS = 60
_ALL = "/api/v1/sessions"


@pytest.fixture
def server(tmp_path: Path) -> Generator[Server]:
    with Server(tmp_path, _SCRIPT, str(paths.bundled_codex_path())) as made:
        try:
            yield made
        finally:  # no command waits on, whatever has become of its agent
            for name in ("first", "second"):
                (made.root / name).touch()


class Lines:
    """What a process prints, line by line."""

    def __init__(self, *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "dragoman.cli.main", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.found: list[dict[str, Any]] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.found.append(json.loads(line))

    def end(self) -> list[dict[str, Any]]:
        self.process.terminate()
        self.process.wait(30)
        self._thread.join(30)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return self.found


def wait(until: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + _SECONDS
    while not (found := until()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def texts(messages: list[dict[str, Any]]) -> list[str]:
    return [each["text"] for each in messages if each["type"] == "text"]


def test_a_session_in_a_terminal_is_followed_on_every_way(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(server.home))
    with httpx.Client(
        base_url=server.url,
        headers={"Authorization": f"Bearer {server.token}"},
        timeout=_SECONDS,
    ) as http:
        terminal = threading.Thread(target=server.save_a_session, args=("Paint the shed",))
        tail = Lines("tail", "--json")
        terminal.start()
        path: Path = wait(lambda: next(server.home.rglob("rollout-*.jsonl"), None))
        convert = Lines("convert", "--follow", str(path))
        [shed] = wait(lambda: http.get(_ALL).json()["sessions"])
        at = f"{_ALL}/{shed['id']}"

        streamed: list[dict[str, Any]] = []

        def stream() -> None:
            with http.stream("GET", f"{at}/stream") as answer:
                for line in answer.iter_lines():
                    if line.startswith("data: ") and line != "data: {}":
                        streamed.append(json.loads(line.removeprefix("data: ")))
                    said = [each["message"] for each in streamed]
                    if "The second answer." in texts(said) and said[-1]["type"] == "turn_ended":
                        return

        listening = threading.Thread(target=stream)
        listening.start()
        polled: dict[int, dict[str, Any]] = {}
        after = 0

        def poll() -> bool:
            nonlocal after
            for each in http.get(f"{at}/entries", params={"after": after}).json()["entries"]:
                assert each["seq"] not in polled
                polled[each["seq"]] = each["message"]
                after = each["seq"]
            # What was told never changes its meaning.
            for each in http.get(f"{at}/entries").json()["entries"]:
                assert polled.get(each["seq"], each["message"]) == each["message"]
            return bool(polled) and polled[after]["type"] == "turn_ended"

        seen = http.get(at).json()
        assert (seen["state"], seen["running_elsewhere"]) == ("working", True)
        wait(lambda: poll() or "I will look." in texts(list(polled.values())))
        assert "turn_ended" not in [each["type"] for each in polled.values()]
        (server.root / "first").touch()
        wait(poll)
        terminal.join()
        assert texts(list(polled.values())) == ["I will look.", "The first answer."]
        over = wait(lambda: (now := http.get(at).json())["state"] == "done" and now)
        assert not over["running_elsewhere"]

        # A later process goes on with it.
        resumed = threading.Thread(target=server.resume_a_session, args=(shed["id"], "In green"))
        resumed.start()
        wait(lambda: not poll())
        (server.root / "second").touch()
        wait(lambda: poll() and "The second answer." in texts(list(polled.values())))
        resumed.join()
        listening.join(_SECONDS)
        whole = [
            json.loads(encode(each)) for each in dragoman.read(path) if not isinstance(each, Delta)
        ]
        wait(lambda: all(whole[-1] in each.found for each in (tail, convert)))

    assert list(polled.values()) == whole
    assert list(polled) == list(range(1, len(whole) + 1))
    assert [each["message"] for each in streamed] == whole
    # It tells what is written from when it began to look.
    assert tail.end() == whole[-len(tail.found) :]
    assert texts(tail.found)[-1] == "The second answer."
    assert convert.end() == whole
    outcomes = [each["outcome"] for each in whole if each["type"] == "turn_ended"]
    assert outcomes == ["completed", "completed"]


def test_a_session_whose_program_was_killed_is_open(server: Server) -> None:
    with httpx.Client(
        base_url=server.url,
        headers={"Authorization": f"Bearer {server.token}"},
        timeout=_SECONDS,
    ) as http:
        with server.begin_a_session("Paint forever") as terminal:
            wait(lambda: http.get(_ALL).json()["sessions"])
            [shed] = wait(
                lambda: [each for each in http.get(_ALL).json()["sessions"] if each["open_turn"]]
            )
            assert (shed["state"], shed["running_elsewhere"]) == ("working", True)
            refused = http.post(f"{_ALL}/{shed['id']}/stop")
            assert refused.status_code == 409, "it would go on"
            assert "another program" in refused.json()["error"]["message"]
            terminal.kill()
        at = f"{_ALL}/{shed['id']}"
        left = wait(lambda: (now := http.get(at).json())["state"] != "working" and now)
        assert (left["state"], left["open_turn"], left["running_elsewhere"]) == (
            "idle",
            True,
            False,
        )
        messages = [each["message"] for each in http.get(f"{at}/entries").json()["entries"]]
        assert "turn_ended" not in [each["type"] for each in messages]
