from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.archive.handoff.placing import place_file


def _state(path: Path) -> tuple[bytes, int]:
    return path.read_bytes(), path.stat().st_mode & 0o777


@pytest.fixture(autouse=True)
def _open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def test_only_its_user_can_read_a_new_session(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "s.jsonl"
    place_file(str(path), [b"one", b"two"])

    assert _state(path) == (b"one\ntwo\n", 0o600)
    assert os.listdir(path.parent) == ["s.jsonl"]
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"mine")
    mode = path.stat().st_mode & 0o777

    with pytest.raises(FileExistsError):
        place_file(str(path), [b"new"])

    assert _state(path) == (b"mine", mode)
    assert os.listdir(tmp_path) == ["s.jsonl"]


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.symlink_to(tmp_path / "elsewhere")

    with pytest.raises(FileExistsError):
        place_file(str(path), [b"new"])

    assert not (tmp_path / "elsewhere").exists()


def test_a_session_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    def lines() -> Iterator[bytes]:
        yield b"one"
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        place_file(str(tmp_path / "s.jsonl"), lines())

    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("taken", [False, True])
def test_a_file_system_without_links(
    taken: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr(os, "link", refuse)
    path = tmp_path / "s.jsonl"
    if taken:
        path.write_bytes(b"mine")
        with pytest.raises(FileExistsError):
            place_file(str(path), [b"new"])
    else:
        place_file(str(path), [b"new"])

    assert path.read_bytes() == (b"mine" if taken else b"new\n")
    assert os.listdir(tmp_path) == ["s.jsonl"]
