"""Whichever way a file is read, its account is the same."""

from __future__ import annotations

import gzip
import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from dragoman.archive.ledger.reading import _of_any, _of_plain, read_file_usage

_DATA = Path(__file__).parents[2] / "data"
_FOLDER = str(Path(__file__).parents[3] / "benchmarks")
sys.path.insert(0, _FOLDER)
try:
    corpus: Any = importlib.import_module("corpus")
    traps: Any = importlib.import_module("corpus_traps")
finally:
    sys.path.remove(_FOLDER)


def is_plain(path: Path) -> bool:
    """Whether the file is plain. If it is, both ways must give the same account."""
    quick = _of_plain(str(path))
    assert quick is None or quick == _of_any(str(path)), path
    assert read_file_usage(path) == _of_any(str(path))
    return quick is not None


def test_every_recording_has_one_account() -> None:
    plain = [is_plain(path) for path in _DATA.rglob("*.jsonl")]

    assert plain.count(True) > 40
    assert plain.count(False) > 100


@pytest.mark.parametrize("make", traps.TRAPS, ids=lambda make: make.__name__)
def test_every_file_of_a_trap_has_one_account(make: Any, tmp_path: Path) -> None:
    traps.write(tmp_path, make)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]

    plain = [is_plain(path) for path in files]
    is_of_copies = make in (traps.sub_agents_that_copy, traps.forks_of_a_lost_session)
    assert (True in plain) or is_of_copies


@pytest.mark.parametrize("seed", range(4))
def test_a_made_session_is_plain_and_its_packed_copy_tells_the_same(
    seed: int, tmp_path: Path
) -> None:
    path = tmp_path / "session.jsonl"
    corpus.write(path, seed, corpus.bodies(), paginated=seed % 2 == 1, size=900_000)
    packed = tmp_path / "session.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))

    assert is_plain(path)
    assert not is_plain(packed)
    assert read_file_usage(path).entries == read_file_usage(packed).entries != []


def test_a_line_without_its_end_is_left_to_the_parser(tmp_path: Path) -> None:
    path = corpus.write(tmp_path / "a.jsonl", 2, corpus.bodies(), paginated=False, size=200_000)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    assert is_plain(path)  # only the newline is missing
    path.write_bytes(whole[:-20])
    is_plain(path)
    path.write_bytes(b"")
    assert not is_plain(path)


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    assert "no such file" in (read_file_usage(tmp_path / "gone.jsonl").problem or "")
    assert "it is a directory" in (read_file_usage(tmp_path).problem or "")
