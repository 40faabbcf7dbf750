"""Recordings for the fake program: a server that is asked one thing, and what it says to that."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from dragoman.rehearsal import Faults, write_fake_codex

Json = dict[str, Any]
THREAD, TURN = "01a1e150-b415-7001-8000-000000000001", "01a1e150-b415-7001-8000-000000000002"
_VERSION = "0.166.0"


def sent(method: str, number: int) -> Json:
    return {"dir": "send", "msg": {"id": number, "method": method, "params": {}}}


def answered(number: int, result: Json) -> Json:
    return {"dir": "recv", "msg": {"id": number, "result": result}}


def note(method: str, **params: Any) -> Json:
    return {"dir": "recv", "msg": {"method": method, "params": {"threadId": THREAD, **params}}}


def text(number: int, words: str) -> Json:
    item = {"type": "agentMessage", "id": f"msg-{number}", "text": words}
    return note("item/completed", turnId=TURN, item=item)


def delta(number: int, words: str) -> Json:
    return note("item/agentMessage/delta", turnId=TURN, itemId=f"msg-{number}", delta=words)


def command(status: str, **more: Any) -> Json:
    item = {"type": "commandExecution", "id": "call-1", "command": "make", "cwd": "/", **more}
    method = "item/started" if status == "inProgress" else "item/completed"
    return note(method, turnId=TURN, item={"commandActions": [], **item, "status": status})


def _turn(status: str) -> Json:
    return {"id": TURN, "items": [], "status": status}


BEGIN: list[Json] = [
    sent("initialize", 1),
    answered(1, {"userAgent": f"fake/{_VERSION} (test)"}),
    sent("account/read", 2),
    answered(2, {"account": None, "requiresOpenaiAuth": False}),
    sent("thread/start", 3),
    answered(
        3,
        {
            "thread": {"id": THREAD, "turns": []},
            "model": "fake-1",
            "cwd": None,
            "approvalPolicy": "never",
            "sandbox": {"type": "dangerFullAccess"},
        },
    ),
    sent("turn/start", 4),
    answered(4, {"turn": _turn("inProgress")}),
    note("turn/started", turn=_turn("inProgress")),
]
END = note("turn/completed", turn=_turn("completed"))


def fake_server(folder: Path, said: Iterable[Json], faults: Faults | None = None) -> str:
    """A ``codex`` whose server says this in its one turn."""
    recording = folder / "recording.jsonl"
    with recording.open("wb") as file:
        for line in [*BEGIN, *said, END]:
            file.write(msgspec.json.encode(line) + b"\n")
    return str(write_fake_codex(folder, recording, faults=faults, version=_VERSION))


def fake_run(folder: Path, said: Iterable[Json], faults: Faults | None = None) -> str:
    """A ``codex`` that says this when it is given a prompt."""
    recording = folder / "recording.jsonl"
    lines = [{"type": "thread.started", "thread_id": THREAD}, {"type": "turn.started"}, *said]
    recording.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    return str(write_fake_codex(folder, recording, faults=faults, version=_VERSION))
