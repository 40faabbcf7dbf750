from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dragoman.archive.folders import config_folder, write_whole


@pytest.mark.skipif(sys.platform == "win32", reason="has no such variable")
def test_settings_lie_where_the_user_wants_them(tmp_path: Path) -> None:
    assert config_folder({"XDG_CONFIG_HOME": str(tmp_path)}) == str(tmp_path / "dragoman")
    assert config_folder({}) == str(Path.home() / ".config" / "dragoman")


def test_a_file_is_put_in_place_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"

    assert write_whole(path, b"one")
    assert write_whole(path, b"two")
    assert path.read_bytes() == b"two"
    assert [each.name for each in path.parent.iterdir()] == ["file"]


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert not write_whole(tmp_path / "file" / "below", b"x")

    (tmp_path / "taken").mkdir()
    assert not write_whole(tmp_path / "taken", b"x")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "taken"]
