from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dragoman.reading import writers

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux says who writes a file")


@linux
@pytest.mark.parametrize("name", ["session.jsonl", "recording.log"])
def test_a_file_may_grow_while_a_program_has_it_open_for_writing(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    path.write_bytes(b"")
    assert not writers.may_grow(str(path))
    with path.open("rb"):
        assert not writers.may_grow(str(path))

    code = "import sys; f = open(sys.argv[1], 'ab'); print(flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout
        writer.stdout.readline()
        monkeypatch.setattr(writers, "_kept", (0.0, writers.Snapshot({}, frozenset())))
        assert writers.may_grow(str(path))
        link = tmp_path / "link.jsonl"
        link.symlink_to(path)
        assert writers.may_grow(str(link))
        writer.kill()
    assert not writers.may_grow(str(path))


@linux
def test_a_compressed_file_and_what_is_no_file_do_not_grow(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.zst"
    with path.open("wb"):
        assert not writers.may_grow(str(path))
    assert not writers.may_grow(str(tmp_path))
    assert not writers.may_grow(str(tmp_path / "nothing.jsonl"))
    assert not writers.may_grow("/dev/null")


@pytest.mark.parametrize(
    "seen",
    [
        writers.Snapshot({}, frozenset({os.getuid()})),
        writers.Snapshot({}, frozenset(), is_whole=False),
    ],
)
def test_what_cannot_be_seen_is_decided_by_age(
    tmp_path: Path, seen: writers.Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"")

    def look(_wanted: object) -> writers.Snapshot:
        return seen

    monkeypatch.setattr(writers, "_look", look)
    monkeypatch.setattr(writers, "_kept", (0.0, seen))

    assert writers.may_grow(str(path))
    assert not writers.is_at_rest(str(path))
    old = time.time_ns() / 1e9 - writers.LATELY_SECONDS - 1
    os.utime(path, (old, old))
    assert not writers.may_grow(str(path))
    assert writers.is_at_rest(str(path))


def test_on_another_system_nobody_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"")

    assert writers.is_written(str(path), path.stat()) is None


@linux
def test_no_more_than_so_many_files_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writers, "_MOST_FILES", 3)

    assert not writers._look(lambda _name: True).is_whole
