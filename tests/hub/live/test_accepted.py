"""A turn that was accepted is never lost: it is sent, or reported as failed, and its key says the same again.

With the real ``dragoman serve``, killed with SIGKILL at every moment, and the real agent.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import httpx
import pytest

from dragoman.hub.live.accepted import Accepted
from dragoman.model.messages import Prompt, TurnEnded
from dragoman.store.live.store import LiveStore
from support.agents.stages import Stage

MakeStage: TypeAlias = Callable[..., Stage]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")


class Server:
    """``dragoman serve`` in a process of its own, with the same data each time."""

    def __init__(self, play: Stage, repo: Path) -> None:
        data = str(repo.parent / "served")
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "dragoman.cli.main", "serve", "--port", "0", "--no-open"),
                *("--data", data, "--root", str(repo), "--command", play.command),
            ],
            cwd=repo,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **play.env, "XDG_CACHE_HOME": str(repo.parent / "cache")},
            text=True,
        )
        assert self._process.stdout is not None
        address = self._process.stdout.readline().strip()
        found = re.fullmatch(r"(http://\S+?)(/\S*)?#token=(\S+)", address)
        assert found, address
        bearer = {"Authorization": f"Bearer {found[3]}"}
        self.client = httpx.Client(base_url=f"{found[1]}/api/v1", headers=bearer, timeout=60)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.communicate()
            self.client.close()

    def start(self, repo: Path, **more: Any) -> Any:
        given = {"cwd": str(repo), "sandbox": "danger-full-access", "approvals": "never", **more}
        key = {"Idempotency-Key": f"session {more}"}
        answer = self.client.post("/sessions", json=given, headers=key)
        assert answer.is_success, answer.text
        return answer.json()

    def run(self, session: str, text: str, key: str) -> str | None:
        answer = self.client.post(
            f"/sessions/{session}/turns", json={"text": text}, headers={"Idempotency-Key": key}
        )
        assert answer.status_code == 202, answer.text
        return answer.json()["turn_id"]

    def entries(self, session: str) -> list[dict[str, Any]]:
        found = self.client.get(f"/sessions/{session}/entries", params={"limit": 500}).json()
        return [each["message"] for each in found["entries"]]

    def settled(self, session: str) -> list[dict[str, Any]]:
        """The entries, once nobody is at work any more."""
        deadline = time.monotonic() + 60
        while self.client.get(f"/sessions/{session}").json()["state"] in ("working", "waiting"):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        return self.entries(session)


def _becomes_of(entries: list[dict[str, Any]], text: str) -> list[str]:
    """The outcome of each turn that had this prompt; the last one may be open."""
    outcomes: list[str] = []
    for place, entry in enumerate(entries):
        if entry["type"] == "prompt" and entry["text"] == text:
            ends = [each for each in entries[place:] if each["type"] == "turn_ended"]
            outcomes.append(ends[0]["outcome"] if ends else "open")
    return outcomes


def _turns(entries: list[dict[str, Any]]) -> list[list[str]]:
    """What each turn has of a start, a prompt and an end."""
    turns: dict[str, list[str]] = {}
    for entry in entries:
        if entry["type"] in ("turn_started", "prompt", "turn_ended"):
            turns.setdefault(entry["turn_id"], []).append(entry["type"])
    return list(turns.values())


def test_a_turn_that_was_accepted_is_never_lost(stage: MakeStage, repo: Path) -> None:
    script = "turns:\n" + "- - say: Done.\n" * 60
    play = stage(script)
    with Server(play, repo) as server:
        session = server.start(repo)["id"]
    accepted: tuple[str, str, str | None] | None = None
    outcomes: list[str] = []
    for number, delay in enumerate([0, 0, 0.005, 0.02, 0.1, None]):
        with Server(play, repo) as server:
            if accepted is not None:
                text, key, turn_id = accepted
                told = server.settled(session)
                [outcome] = _becomes_of(told, text)
                assert _turns(told) == [["turn_started", "prompt", "turn_ended"]] * number
                assert server.run(session, text, key) == turn_id
                assert _becomes_of(server.settled(session), text) == [outcome]
                outcomes.append(outcome)
            if delay is not None:
                text, key = f"task {number}", f"key {number}"
                accepted = text, key, server.run(session, text, key)
                time.sleep(delay)  # the moment of the kill is the story
    assert set(outcomes) <= {"completed", "failed"}
    assert "failed" in outcomes


def test_a_first_prompt_that_was_accepted_is_never_lost(stage: MakeStage, repo: Path) -> None:
    play = stage("turns:\n" + "- - say: Done.\n" * 20)
    for number, delay in enumerate([0, 0.03]):
        text = f"begin {number}"
        with Server(play, repo) as server:
            session = server.start(repo, prompt=text)["id"]
            time.sleep(delay)  # the moment of the kill is the story
            server.kill()
        with Server(play, repo) as server:
            [outcome] = _becomes_of(server.settled(session), text)
            assert outcome in ("completed", "failed")
            assert server.start(repo, prompt=text)["id"] == session
            assert _becomes_of(server.settled(session), text) == [outcome]
            server.run(session, f"and then {number}", f"then {number}")
            assert _becomes_of(server.settled(session), f"and then {number}") == ["completed"]


@pytest.fixture
def store(tmp_path: Path) -> Any:
    opened = LiveStore(tmp_path)
    yield opened
    opened.close()


def test_what_is_noted_is_there_until_it_is_seen(store: LiveStore) -> None:
    accepted = Accepted(store)
    one = accepted.put("s", "one", ["a.png"], key="turn k", seq=3)
    accepted.put("s", "two", [], key=None, seq=3)
    store.writer.flush()
    assert [note[1:] for note in store.reading.accepted()] == [
        ("s", "turn k", None, 3, "one", ["a.png"]),
        ("s", None, None, 3, "two", []),
    ]
    accepted.seen("another", Prompt(text="one"))
    accepted.seen("s", Prompt(text="something else", turn_id="t0"))
    accepted.seen("s", Prompt(text=" two\n"))
    accepted.name(one, "t1")
    assert Accepted(store).left()[0].text == "one"
    accepted.seen("s", TurnEnded(turn_id="t1", outcome="failed"))
    store.writer.flush()
    assert accepted.left() == Accepted(store).left() == []
    assert not accepted.of("s")


def test_a_turn_that_was_over_before_it_had_a_name_is_not_lost(store: LiveStore) -> None:
    accepted = Accepted(store)
    note = accepted.put("s", "one", [], key=None, seq=0)
    accepted.seen("s", TurnEnded(turn_id="t1", outcome="completed"))
    accepted.name(note, "t1")
    assert accepted.left() == []
