from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dragoman.archive import homes
from dragoman.archive.finding import Home
from dragoman.archive.homes import all_homes, registered
from dragoman.model.homes import HomeFolder


def test_homes_are_remembered_for_this_version(tmp_path: Path) -> None:
    assert all_homes(tmp_path) == registered()
    remembered = (tmp_path / "homes.txt").read_text(encoding="utf-8")
    assert all_homes(tmp_path) == registered()

    (tmp_path / "homes.txt").write_text("0.0.0\nsomething else\n", encoding="utf-8")
    assert all_homes(tmp_path) == registered()
    assert (tmp_path / "homes.txt").read_text(encoding="utf-8") == remembered


@pytest.mark.parametrize(
    ("folder", "added"),
    [("site-packages", "toy"), ("site-packages", "toy-1.0.dist-info"), ("src", "toy.egg-info")],
)
def test_homes_from_before_a_harness_was_added_are_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, added: str
) -> None:
    packages = tmp_path / folder
    packages.mkdir()
    monkeypatch.setattr("sys.path", [str(packages), *sys.path])
    assert all_homes(tmp_path / "cache") == registered()
    home = Home("toy", HomeFolder("TOY_HOME", ".toy", "data"), (("logs", False),), (".jsonl",))

    (packages / added).mkdir()  # as an installer does
    monkeypatch.setattr(homes, "registered", lambda: (home,))

    assert all_homes(tmp_path / "cache") == (home,)
    assert all_homes(tmp_path / "cache") == (home,)  # as it was stored


def test_other_changes_beside_the_program_do_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", ["", str(tmp_path / "missing"), *sys.path])
    expected = all_homes(tmp_path / "cache")
    monkeypatch.setattr(homes, "registered", lambda: pytest.fail("the harnesses were imported"))

    (tmp_path / "notes.txt").write_bytes(b"")

    assert all_homes(tmp_path / "cache") == expected


def test_homes_need_no_place_to_be_remembered_in(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")

    assert all_homes(tmp_path / "file") == registered()
    assert all_homes(None) == registered()
