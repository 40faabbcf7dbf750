"""Many files read with several processes give what reading each of them gives."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dragoman
from dragoman.model.messages import Message
from dragoman.reading import many
from dragoman.reading.many import read_many
from support.archive.saved_sessions import save, simple

pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    for number in range(1, 20):
        save(tmp_path, number, simple(number, [f"word {each}" for each in range(number * 3)]))
    found = sorted(tmp_path.rglob("*.jsonl"))
    # A number that MessagePack cannot carry.
    event = '{"timestamp":"2026-11-15T09:00:00.000Z","type":"event_msg","payload":{"type":"mcp_tool_call_begin",'
    call = '"call_id":"c","invocation":{"server":"s","tool":"t","arguments":{"n":1180591620717411303424}}}}\n'
    with found[3].open("a") as file:
        file.write(event + call)
    return found


@pytest.fixture(autouse=True)
def shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Share even little, and although the tests' own process has threads."""

    def processes(names: list[str], most: int | None) -> int:
        return most or 2

    monkeypatch.setattr(many, "_processes", processes)


def _each(paths: list[Path], **options: Any) -> dict[str, list[Message]]:
    return {str(path): list(dragoman.read(path, **options)) for path in paths}


def _gathered(found: Iterator[tuple[str, Message]]) -> dict[str, list[Message]]:
    gathered: dict[str, list[Message]] = {}
    for path, message in found:
        gathered.setdefault(path, []).append(message)
    return gathered


def _children() -> set[str]:
    return set(Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split())


@pytest.mark.skipif(sys.platform != "linux", reason="copies of a process pay only on Linux")
@pytest.mark.parametrize("processes", [1, 2, 4])
def test_every_message_arrives_in_order(paths: list[Path], processes: int) -> None:
    before = _children()

    assert _gathered(read_many(paths, processes=processes)) == _each(paths)
    assert _children() == before


def test_only_some_types_can_be_asked_for(paths: list[Path]) -> None:
    assert _gathered(read_many(paths, only={"usage"})) == _each(paths, only={"usage"})


@pytest.mark.skipif(sys.platform != "linux", reason="copies of a process pay only on Linux")
@pytest.mark.parametrize("after", [0, 1, 200])
def test_a_copy_that_dies_loses_nothing(
    paths: list[Path], monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    send, own, sent = many._send, os.getpid(), 0

    def dying(*given: Any) -> None:
        nonlocal sent
        sent += 1
        if sent > after and os.getpid() != own:
            os.kill(os.getpid(), signal.SIGKILL)
        send(*given)

    monkeypatch.setattr(many, "_send", dying)

    assert _gathered(read_many(paths)) == _each(paths)


@pytest.mark.skipif(sys.platform != "linux", reason="copies of a process pay only on Linux")
def test_no_copy_outlives_the_iteration(paths: list[Path]) -> None:
    before = _children()
    found = read_many(paths, processes=3)
    next(found)
    assert len(_children()) == len(before) + 2

    found.close()

    assert _children() == before


def test_a_file_that_cannot_be_opened_raises(paths: list[Path], tmp_path: Path) -> None:
    with pytest.raises(dragoman.UnreadableSource, match="no such file"):
        _gathered(read_many([*paths, tmp_path / "gone.jsonl"]))


def test_little_is_read_by_one_process(paths: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    assert many._processes([str(path) for path in paths], None) == 1
