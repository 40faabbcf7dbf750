from __future__ import annotations

import io
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

import dragoman
from dragoman.errors import UsageError
from dragoman.harnesses.contract.playback import TimedMessage
from dragoman.model.messages import SessionStarted, TurnEnded
from dragoman.replay.serving import playback_for, run, serve
from dragoman.replay.timing import timed_messages


def test_a_run_is_printed_in_time_and_ends_as_it_ended(runs: Path) -> None:
    recorded = list(dragoman.read(runs / "0.166.0/patch_all.rollout.jsonl"))
    out, slept = io.BytesIO(), list[float]()

    assert run(list(timed_messages(recorded, stream=False)), out, slept.append) == 0

    assert len(out.getvalue().splitlines()) > 5
    assert sum(slept) > 0
    failed = [
        TimedMessage(0, SessionStarted(harness="codex")),
        TimedMessage(0, TurnEnded(outcome="failed")),
    ]
    assert run(failed, io.BytesIO()) == 1


def test_a_server_answers_until_its_client_leaves(runs: Path) -> None:
    recorded = list(
        timed_messages(dragoman.read(runs / "0.166.0/patch_all.rollout.jsonl"), speed=1000)
    )
    ours, theirs = os.pipe()
    out = io.BytesIO()
    server = threading.Thread(target=serve, args=(recorded, ours, out))
    server.start()
    thread = recorded[0].message.session_id
    asked: list[tuple[str, dict[str, Any]]] = [("initialize", {}), ("thread/start", {})]
    asked.append(("turn/start", {"threadId": thread, "input": []}))
    for number, (method, params) in enumerate(asked):
        line = json.dumps({"id": number, "method": method, "params": params})
        os.write(theirs, line.encode() + b"\n")
    for _ in range(500):
        if b"turn/completed" in out.getvalue():
            break
        server.join(0.01)
    os.close(theirs)
    server.join(10)
    os.close(ours)

    assert not server.is_alive()
    said = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [message["id"] for message in said if "id" in message] == [0, 1, 2]
    assert said[-1]["method"] == "turn/completed"


def test_a_stranger_cannot_be_played() -> None:
    with pytest.raises(UsageError, match="'nobody'"):
        playback_for([TimedMessage(0, SessionStarted(harness="nobody"))])
