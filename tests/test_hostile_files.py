"""Hostile and damaged files under ``sessions/`` and in the cache: every command ends, with a sentence."""

from __future__ import annotations

import gzip
import os
import random
import resource
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import dragoman
from dragoman.cli.main import main
from dragoman.model.messages import Malformed, ToolCall
from dragoman.reading.compression import zstd
from support.archive.saved_sessions import Rows, file_name, save, session_id, simple

_COMMANDS = (
    ("sessions",),
    ("search", "alpha"),
    ("usage",),
    ("show", session_id(1)),
    ("doctor", "--sessions"),
    ("export", session_id(1), "--to", "text"),
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    save(home, 1, simple(1, ["alpha", "beta"]))
    monkeypatch.setenv("CODEX_HOME", str(home))
    monkeypatch.setenv("DRAGOMAN_CACHE", str(tmp_path / "cache"))
    return home


def run(*words: str, memory: int | None = None) -> subprocess.CompletedProcess[bytes]:
    """The program, which must end by itself; with no more memory than this."""

    def limit() -> None:
        if memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    return subprocess.run(
        [sys.executable, "-m", "dragoman.cli.main", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
        preexec_fn=limit,
    )


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize("make", [_fifo, _device, _folder])
def test_what_is_no_regular_file_stops_nothing(home: Path, make: Callable[[Path], None]) -> None:
    make(home / file_name(2))

    for words in _COMMANDS:
        done = run(*words, memory=2 << 30)
        assert done.returncode in (0, 1), (words, done.stderr)
        assert b"Traceback" not in done.stderr
        assert done.stdout


def test_a_pipe_that_is_named_is_read_and_a_device_without_end_is_refused(home: Path) -> None:
    pipe, data = home / "pipe", (home / file_name(1)).read_bytes()
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(data))
    writer.start()
    done = run("convert", str(pipe), "--to", "text")
    writer.join()
    assert b"please alpha" in done.stdout

    done = run("convert", "/dev/zero", memory=2 << 30)

    assert done.returncode == 2
    assert b"/dev/zero: it is a device, not a file" in done.stderr


@pytest.mark.parametrize("words", [("sessions",), ("usage",), ("search", "alpha")])
def test_a_small_file_that_unpacks_to_gigabytes_takes_little_memory(
    home: Path, words: tuple[str, ...]
) -> None:
    head = Rows(2).begin("go").data
    packed = zstd().compress(head) + zstd().compress(b"x" * (1 << 20)) * 2000
    save(home, 2, packed, ".jsonl.zst")

    done = run(*words, memory=1 << 30)

    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr


def test_it_is_said_where_reading_stopped(tmp_path: Path) -> None:
    path = tmp_path / "bomb.jsonl.zst"
    path.write_bytes(
        zstd().compress(simple(1)) + zstd().compress((b"x" * 65535 + b"\n") * 16) * 100
    )

    *_, last = dragoman.read(path)

    assert isinstance(last, Malformed)
    assert "grows more than 1000-fold" in last.problem


@pytest.mark.parametrize("dialect", [(), ("--from", "codex-rollout")], ids=["detected", "named"])
def test_a_bomb_is_named_as_the_reason_that_nothing_was_read(
    tmp_path: Path, dialect: tuple[str, ...]
) -> None:
    path = tmp_path / "bomb.jsonl.zst"
    path.write_bytes(zstd().compress(bytes(1 << 27)))

    done = run("convert", str(path), *dialect, memory=1 << 30)

    assert done.returncode == 1
    assert b"the limit is 64 MiB" in done.stderr
    assert b"decompress it first" in done.stderr
    assert len(done.stdout) < 1 << 20  # of the line that was cut, only the ends


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_line_over_the_limit_is_named_as_the_reason_that_nothing_was_read(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "long.jsonl"
    path.write_bytes(pack(b"x" * 5000))

    done = run("convert", str(path), "--max-line", "1024", memory=1 << 30)

    assert done.returncode == 1
    assert b"has 5,000 bytes, and the limit is 1,024" in done.stderr
    assert b"--max-line" in done.stderr


def test_a_line_is_not_held_in_memory_beyond_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "sparse.jsonl"
    path.write_bytes(simple(1, ["alpha"] * 9))
    os.truncate(path, 5 << 28)

    done = run("convert", str(path), memory=1 << 30)

    assert done.returncode == 0, done.stderr
    assert b"is longer than the limit" in done.stdout


@pytest.mark.parametrize("depth", [100, 400, 5000, 100_000])
def test_deeply_nested_values_break_nothing(home: Path, depth: int) -> None:
    deep = '{"a":' * depth + "1" + "}" * depth
    rows = Rows(2).begin("go")
    call = {"type": "function_call", "name": "strange", "call_id": "c", "arguments": deep}
    rows.row("response_item", call)
    data = (
        rows.data
        + b'{"timestamp":"2026-01-01T00:00:00Z","type":"x","payload":%b}\n' % deep.encode()
    )
    path = save(home, 2, data + Rows(2).say("done").data.split(b"\n", 1)[1])

    for to in ("html", "markdown", "text", "json", "messages", "claude", "unified"):
        assert main(["export", session_id(2), "--to", to, "-o", str(home / to)]) == 0
        assert (home / to).stat().st_size
    messages = list(dragoman.read(path))
    [used] = [each for each in messages if isinstance(each, ToolCall)]
    assert ("raw" in used.input) == (depth > 128)
    problems = [each.problem for each in messages if isinstance(each, Malformed)]
    assert problems == (["nested too deeply"] if depth > 128 else [])


def test_a_cache_with_changed_bytes_works_or_is_made_again(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(2, 8):
        save(home, number, simple(number, ["alpha", f"beta {number}"]))
    for words in _COMMANDS[:4]:
        assert main(list(words)) == 0
    clean = tmp_path / "clean"
    shutil.copytree(tmp_path / "cache", clean)
    chance = random.Random(8)
    for _ in range(40):
        shutil.rmtree(tmp_path / "cache")
        shutil.copytree(clean, tmp_path / "cache")
        files = sorted(each for each in (tmp_path / "cache").rglob("*") if each.is_file())
        sizes = [each.stat().st_size for each in files]
        [path] = chance.choices(files, sizes)
        data = bytearray(path.read_bytes())
        for _ in range(chance.choice([1, 1, 8])):
            data[chance.randrange(len(data))] ^= chance.randrange(1, 256)
        path.write_bytes(data)
        for words in _COMMANDS[:3]:
            assert main(list(words)) == 0, (path.name, words)
    capsys.readouterr()


def test_an_index_path_that_is_no_database_is_named_and_left_alone(
    home: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["sessions"]) == 0
    [index] = (tmp_path / "cache").rglob("index.sqlite3")
    index.write_bytes(b"my notes\n" * 50)

    assert main(["sessions"]) == 1
    assert f"cannot be kept at {index}: it is not a database" in capsys.readouterr().err
    assert index.read_bytes() == b"my notes\n" * 50
