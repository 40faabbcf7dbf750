"""The program at work in a pipe: how soon it speaks, and what ends it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from queue import Queue
from types import SimpleNamespace

import pytest

from dragoman.cli.main import main

DRAGOMAN = Path(sys.executable).with_name("dragoman")
WAIT = 20
"""Seconds; far more than anything here takes."""
EXEC = [
    b'{"type":"thread.started","thread_id":"s1"}\n',
    b'{"type":"turn.started"}\n',
    b'{"type":"item.completed","item":{"id":"i1","type":"agent_message","text":"hello"}}\n',
    b'{"type":"turn.completed","usage":{"input_tokens":10,"output_tokens":2}}\n',
]
TYPES = ["session_started", "turn_started", "text", "usage", "turn_ended"]


def types(lines: bytes) -> list[str]:
    return [json.loads(line)["type"] for line in lines.splitlines()]


class Running:
    """The program at work, with a bound on every wait."""

    def __init__(self, *arguments: str | Path) -> None:
        self.process = subprocess.Popen(
            [DRAGOMAN, "convert", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._lines = Queue[bytes]()
        self._listener = threading.Thread(target=self._listen)
        self._listener.start()

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self._listener.join()
        for pipe in (self.process.stdin, self.process.stderr):
            assert pipe is not None
            pipe.close()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as pipe:
            for line in pipe:
                self._lines.put(line)
        self._lines.put(b"")

    def send(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def hang_up(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def next_type(self) -> str:
        """The type of the next line of output, as soon as it is there."""
        return json.loads(self._lines.get(timeout=WAIT))["type"]

    def rest(self) -> list[str]:
        """The types of all lines until the end of the output."""
        found = iter(lambda: self._lines.get(timeout=WAIT), b"")
        return [json.loads(line)["type"] for line in found]

    def end(self) -> tuple[int, bytes]:
        """The exit code, and what was said on standard error."""
        assert self.process.stderr is not None
        code = self.process.wait(timeout=WAIT)
        return code, self.process.stderr.read()


# As a filter.


def test_each_line_is_converted_before_the_next_is_sent() -> None:
    with Running("-") as work:
        for line, expected in zip(
            EXEC, (TYPES[:1], TYPES[1:2], TYPES[2:3], TYPES[3:]), strict=True
        ):
            work.send(line)
            assert [work.next_type() for _ in expected] == expected
        work.hang_up()

        assert (work.rest(), work.end()) == ([], (0, b""))


def test_the_first_ctrl_c_is_for_the_agent_whose_last_words_are_still_converted() -> None:
    with Running() as work:
        work.send(EXEC[0])
        assert work.next_type() == TYPES[0]
        work.process.send_signal(signal.SIGINT)
        work.send(b"".join(EXEC[1:]))
        work.hang_up()

        assert work.rest() == TYPES[1:]
        assert work.end() == (0, b"")


class Keyboard:
    """Standard input of a user who presses Ctrl-C at certain moments."""

    def __init__(self, *parts: bytes | signal.Signals) -> None:
        self._parts = iter(parts)

    def read1(self, _size: int = -1) -> bytes:
        part = next(self._parts, b"")
        while isinstance(part, signal.Signals):
            signal.raise_signal(part)
            part = next(self._parts, b"")
        return part

    read = read1


PRESSED_TWICE = (EXEC[0], signal.SIGINT, EXEC[1], signal.SIGINT, EXEC[2])


def test_the_second_ctrl_c_stops_quietly(
    monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Keyboard(*PRESSED_TWICE)))

    assert main(["convert"]) == 130

    shown = capsysbinary.readouterr()
    assert (types(shown.out), shown.err) == (TYPES[:2], b"")


def test_the_second_ctrl_c_keeps_the_old_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    target = tmp_path / "out"
    target.write_bytes(b"old")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Keyboard(*PRESSED_TWICE)))

    assert main(["convert", "--force", "-o", str(target)]) == 130

    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out"]


def test_ctrl_c_means_what_it_did_before_once_the_conversion_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Keyboard(EXEC[0], signal.SIGINT)))

    assert main(["convert"]) == 0

    assert signal.getsignal(signal.SIGINT) is before


# Following a file.


def test_a_followed_file_is_converted_as_it_grows_until_it_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "growing.jsonl"
    path.write_bytes(EXEC[0])
    with Running(path, "--follow") as work:
        assert work.next_type() == TYPES[0]
        with path.open("ab") as file:
            file.write(EXEC[1] + EXEC[2][:20])
        assert work.next_type() == TYPES[1]
        with path.open("ab") as file:
            file.write(EXEC[2][20:])
        assert work.next_type() == TYPES[2]
        os.truncate(path, 0)

        assert work.rest() == ["turn_ended"]
        assert work.end() == (0, b"")


def test_following_ends_with_the_first_ctrl_c_and_what_is_open_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(b"".join(EXEC[:3]))
    with Running(path, "--follow") as work:
        assert [work.next_type() for _ in TYPES[:3]] == TYPES[:3]
        work.process.send_signal(signal.SIGINT)

        assert work.rest() == ["turn_ended"]
        assert work.end() == (0, b"")


# Into a file.


def test_a_file_is_replaced_only_when_the_new_one_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    target.write_bytes(b"old")
    with Running("-", "--force", "-o", target) as work:
        for line in EXEC:
            work.send(line)
            assert target.read_bytes() == b"old"
        work.hang_up()

        assert work.end() == (0, b"")

    assert types(target.read_bytes()) == TYPES
    assert os.listdir(tmp_path) == ["out.jsonl"]
