from __future__ import annotations

import os
from pathlib import Path

from dragoman.archive.places import ArchivePlace
from support.archive.saved_sessions import save, simple


def test_another_process_is_led_to_the_same_place(tmp_path: Path) -> None:
    one = ArchivePlace.of(
        None, (), tmp_path / "cache", {"CODEX_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
    )
    other = ArchivePlace.of(None, one.paths, one.cache, {}, one.home_folders)

    assert other == one
    assert other.index_folder == one.index_folder
    assert one.folders[0] == str(tmp_path / "home")


def test_every_place_has_an_index_of_its_own(tmp_path: Path) -> None:
    home = ArchivePlace.of(tmp_path / "home", (), tmp_path, {})
    by_hand = ArchivePlace.of(None, [tmp_path / "home"], tmp_path, {})
    two = ArchivePlace.of(None, [tmp_path / "home", tmp_path / "b"], tmp_path, {})

    assert home.index_folder == by_hand.index_folder
    assert two.index_folder != by_hand.index_folder
    assert os.path.dirname(two.index_folder) == str(tmp_path)


def test_files_are_found_below_homes_and_by_hand(tmp_path: Path) -> None:
    path = save(tmp_path / "home", 1, simple(1))

    for place in (
        ArchivePlace.of(tmp_path / "home", (), tmp_path, {}),
        ArchivePlace.of(None, [path], tmp_path, {}),
        ArchivePlace.of(None, [tmp_path / "home"], tmp_path, {}),
    ):
        assert [each.path for each in place.find()] == [str(path)]
    times = ArchivePlace.of(tmp_path / "home", (), tmp_path, {}).folder_times()
    assert str(path.parent) in times
    assert ArchivePlace.of(None, [path], tmp_path, {}).folder_times() == {}
