from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from dragoman.archive.finding import by_hand
from dragoman.archive.ledger import files, reading
from dragoman.archive.ledger.entries import FileUsage
from dragoman.archive.ledger.files import read_all_usage

RUNS = Path(__file__).parents[2] / "data" / "codex" / "runs"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "sessions"
    folder.mkdir()
    for number in (1, 2):
        shutil.copy(RUNS / "0.146.0" / f"fork.rollout{number}.jsonl", folder)
    return folder


@pytest.fixture
def read_paths(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were really read."""
    paths: list[str] = []
    real = reading.read_file_usage

    def read(path: str) -> FileUsage:
        paths.append(path)
        return real(path)

    monkeypatch.setattr(reading, "read_file_usage", read)
    return paths


def accounts(folder: Path, cache: Path | None) -> dict[str, FileUsage]:
    return read_all_usage(by_hand([folder]), cache=cache)


def test_what_was_read_is_not_read_again(folder: Path, read_paths: list[str]) -> None:
    cache = folder.parent / "cache" / "usage"
    first = accounts(folder, cache)
    assert len(read_paths) == 2

    assert accounts(folder, cache) == first
    assert len(read_paths) == 2


def test_only_the_file_that_grew_is_read_again(folder: Path, read_paths: list[str]) -> None:
    cache = folder.parent / "usage"
    accounts(folder, cache)
    grown = folder / "fork.rollout1.jsonl"
    with grown.open("ab") as file:
        file.write(b"\n")

    accounts(folder, cache)
    assert read_paths[2:] == [str(grown)]


def test_a_file_that_was_moved_is_not_read_again(folder: Path, read_paths: list[str]) -> None:
    cache = folder.parent / "usage"
    accounts(folder, cache)
    shutil.move(folder / "fork.rollout1.jsonl", folder / "away.jsonl")

    moved = accounts(folder, cache)
    assert len(read_paths) == 2
    assert moved[str(folder / "away.jsonl")].entries


def test_another_file_of_the_same_size_and_time_is_read(
    folder: Path, read_paths: list[str]
) -> None:
    cache = folder.parent / "usage"
    old = folder / "fork.rollout1.jsonl"
    accounts(folder, cache)
    stat = old.stat()
    other = folder / "other.jsonl"
    other.write_bytes(b"x" * stat.st_size)
    os.utime(other, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    old.unlink()

    assert accounts(folder, cache)[str(other)].entries == []
    assert read_paths[2:] == [str(other)]


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\x92\xa1x\x80"])
def test_a_cache_that_is_not_ours_is_not_believed(
    folder: Path, read_paths: list[str], content: bytes
) -> None:
    cache = folder.parent / "usage"
    cache.write_bytes(content)

    assert len(accounts(folder, cache)) == 2
    assert len(read_paths) == 2


def test_a_cache_that_cannot_be_written_is_no_trouble(folder: Path) -> None:
    not_a_folder = folder.parent / "file"
    not_a_folder.write_bytes(b"")

    assert len(accounts(folder, not_a_folder / "usage")) == 2


def test_what_could_not_be_read_is_tried_again(folder: Path, read_paths: list[str]) -> None:
    cache = folder.parent / "usage"
    [found, *_] = by_hand([folder])
    gone = found._replace(path=str(folder / "gone.jsonl"))

    for _ in range(2):
        [account] = read_all_usage([gone], cache=cache).values()
        assert account.problem is not None
        assert account.entries == []
    assert len(read_paths) == 2


def test_names_that_are_no_utf8_are_names_like_others(folder: Path, read_paths: list[str]) -> None:
    odd, cache = folder.parent / "odd-\udcff", folder.parent / "usage"
    folder.rename(odd)
    first = accounts(odd, cache)
    [found, *_] = by_hand([odd])
    gone = found._replace(path=f"{odd}/gone.jsonl")

    assert accounts(odd, cache) == first
    assert len(read_paths) == 2
    assert list(first) == [each.path for each in by_hand([odd])]
    [account] = read_all_usage([gone], cache=cache).values()
    assert account.problem is not None
    assert "odd-\\udcff/gone.jsonl" in account.problem


def test_files_that_were_not_asked_for_stay_in_the_cache(
    folder: Path, read_paths: list[str]
) -> None:
    cache = folder.parent / "usage"
    accounts(folder, cache)
    other = folder.parent / "other.jsonl"
    shutil.copy(RUNS / "0.166.0" / "revert.rollout1.jsonl", other)
    read_all_usage(by_hand([other]), cache=cache)
    del read_paths[:]

    accounts(folder, cache)
    assert read_paths == []


def test_several_processes_read_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = accounts(folder, None)
    monkeypatch.setattr(files, "_PARALLEL", 1)
    monkeypatch.setattr(files, "_PORTION", 1)

    assert accounts(folder, None) == alone
