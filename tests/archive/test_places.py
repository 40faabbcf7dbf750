from __future__ import annotations

import os
from pathlib import Path

from dragoman.archive.finding import Home
from dragoman.archive.places import ArchivePlace
from dragoman.model.homes import HomeFolder
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


def test_a_harness_that_is_added_at_its_usual_place_extends_the_index(tmp_path: Path) -> None:
    def index_folder(*homes: tuple[Home, str]) -> str:
        return ArchivePlace(homes, (), str(tmp_path)).index_folder

    one = Home("one", HomeFolder("ONE_HOME", ".one"), (("a", False),), (".jsonl",))
    two = Home("two", HomeFolder("TWO_HOME", ".two"), (("b", False),), (".jsonl",))
    usual = two.usual_folder

    assert index_folder((one, "/1")) == index_folder((one, "/1"), (two, usual))
    assert index_folder((one, "/1")) != index_folder((one, "/1"), (two, "/elsewhere"))
    assert index_folder((one, "/1")) != index_folder((one, "/2"), (two, usual))
    assert index_folder((one, "/1")) == index_folder((one, "/1"), (two, "/1"))  # one home for all


def test_only_folders_that_exist_are_named(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    environment = {"HOME": str(tmp_path), "CODEX_HOME": str(tmp_path / "codex")}
    environment["CLAUDE_CONFIG_DIR"] = str(tmp_path / ".claude")
    environment["XDG_DATA_HOME"] = str(tmp_path / "data")
    for variable in ("GEMINI_CLI_HOME", "COPILOT_HOME", "QWEN_HOME"):
        environment[variable] = str(tmp_path / variable)

    place = ArchivePlace.of(None, (), tmp_path / "cache", environment)
    assert str(tmp_path / "codex") in place.folders
    assert str(tmp_path / "codex") not in place.existing_folders
    assert str(tmp_path / ".claude") in place.existing_folders

    nowhere = ArchivePlace.of(tmp_path / "none", (), tmp_path / "cache", environment)
    assert nowhere.existing_folders == [str(tmp_path / "none")]
