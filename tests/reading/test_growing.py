from __future__ import annotations

import gzip
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.reading.compression import zstd
from dragoman.reading.growing import GrowingFile
from dragoman.wire.lines import LongLine


def lines(file: GrowingFile) -> list[bytes | LongLine]:
    return [line for batch in file.lines() for line in batch]


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_lines_come_when_they_are_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\ntw")
    file = GrowingFile(str(path))

    assert lines(file) == [b"one"]
    assert file.rest == b"tw"
    assert lines(file) == []
    append(path, b"o\n")
    assert lines(file) == [b"two"]
    file.close()
    append(path, b"three\n")
    assert lines(file) == [b"three"]
    file.close()


def test_what_was_written_before_a_file_went_away_is_still_had(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\n")
    file = GrowingFile(str(path))
    assert lines(file) == [b"one"]
    append(path, b"two\n")
    path.unlink()

    batches = file.lines()
    assert next(batches) == [b"two"]
    with pytest.raises(FileNotFoundError):
        next(batches)


@pytest.mark.parametrize("pack", [zstd().compress, gzip.compress])
def test_it_goes_on_in_a_compressed_copy_and_back(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    path, packed = tmp_path / "a.jsonl", tmp_path / "a.jsonl.zst"
    path.write_bytes(b"one\ntwo\nthr")
    file = GrowingFile(str(path))
    assert lines(file) == [b"one", b"two"]

    packed.write_bytes(pack(b"one\ntwo\nthree\n"))
    path.unlink()
    assert lines(file) == [b"three"]
    assert lines(file) == []

    path.write_bytes(b"one\ntwo\nthree\nfour\n")
    packed.unlink()
    assert lines(file) == [b"four"]
    file.close()


@pytest.mark.parametrize("other", [b"", b"another\none\nwhich is longer\n"])
def test_another_file_in_its_place_is_noticed(tmp_path: Path, other: bytes) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\ntwo\n")
    file = GrowingFile(str(path))
    lines(file)
    for replace in (Path.write_bytes, _replace):
        replace(path, other)
        assert lines(file) == []
        assert file.is_replaced
    file.close()


def _replace(path: Path, data: bytes) -> None:
    new = path.with_name("new")
    new.write_bytes(data)
    new.replace(path)


def test_the_same_file_under_a_new_inode_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\n")
    file = GrowingFile(str(path))
    lines(file)
    _replace(path, b"one\ntwo\n")

    assert lines(file) == [b"two"]
    file.close()


def test_a_rest_that_was_taken_owes_only_its_newline(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"{}")
    file = GrowingFile(str(path))
    assert lines(file) == []
    file.take_rest()
    append(path, b"\n{}\n")

    assert lines(file) == [b"{}"]
    file.close()


def test_a_line_that_is_too_long_is_not_kept_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"x" * 10_000 + b"\ny\n")
    file = GrowingFile(str(path), max_line=100)
    long, short = lines(file)
    file.close()

    assert isinstance(long, LongLine)
    assert short == b"y"


@given(st.lists(st.binary(max_size=40), max_size=20), st.data())
def test_any_pieces_at_any_times_give_the_same_lines(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("growing") / "a.jsonl"
    whole = b"x\n" + b"".join(pieces)
    path.write_bytes(b"x\n")
    file = GrowingFile(str(path))
    found: list[bytes | LongLine] = []
    with closing(file):
        for piece in pieces:
            append(path, piece)
            if data.draw(st.booleans()):
                found += lines(file)
            if data.draw(st.booleans()):
                file.close()
        found += lines(file)

    assert found == whole.split(b"\n")[:-1]
    assert file.rest == whole.split(b"\n")[-1]
