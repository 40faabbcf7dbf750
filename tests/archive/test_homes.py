from __future__ import annotations

from pathlib import Path

from dragoman.archive.homes import all_homes, registered


def test_homes_are_remembered_for_this_version(tmp_path: Path) -> None:
    assert all_homes(tmp_path) == registered()
    remembered = (tmp_path / "homes.txt").read_text(encoding="utf-8")
    assert all_homes(tmp_path) == registered()

    (tmp_path / "homes.txt").write_text("0.0.0\nsomething else\n", encoding="utf-8")
    assert all_homes(tmp_path) == registered()
    assert (tmp_path / "homes.txt").read_text(encoding="utf-8") == remembered


def test_homes_need_no_place_to_be_remembered_in(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")

    assert all_homes(tmp_path / "file") == registered()
    assert all_homes(None) == registered()
