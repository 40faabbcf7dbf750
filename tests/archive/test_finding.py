from __future__ import annotations

import os
from pathlib import Path

import pytest

from dragoman.archive.finding import Home, are_still_so, by_hand, cache_folder, walk, walk_all
from dragoman.model.homes import HomeFolder

_HOME = Home(
    "x", HomeFolder("X_HOME", ".x"), (("sessions", False), ("old", True)), (".jsonl", ".jsonl.zst")
)


def test_files_are_found_at_any_depth_and_others_are_not(tmp_path: Path) -> None:
    for name in ("sessions/a/b/1.jsonl", "sessions/2.jsonl.zst", "old/3.jsonl", "sessions/n.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x")

    found = {each.path: each for each in walk(_HOME, str(tmp_path))}

    names = {os.path.relpath(path, tmp_path): each.archived for path, each in found.items()}
    assert names == {
        "sessions/a/b/1.jsonl": False,
        "sessions/2.jsonl.zst": False,
        "old/3.jsonl": True,
    }
    assert {each.harness for each in found.values()} == {"x"}


def test_loops_and_dead_links_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "sessions").mkdir()
    (tmp_path / "sessions" / "loop").symlink_to(tmp_path / "sessions")
    (tmp_path / "sessions" / "dead.jsonl").symlink_to(tmp_path / "nowhere")

    assert list(walk(_HOME, str(tmp_path))) == []


def test_a_home_that_is_not_there_has_no_files(tmp_path: Path) -> None:
    assert list(walk(_HOME, str(tmp_path / "nowhere"))) == []


def test_files_and_folders_may_be_named_by_hand(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for name in ("one.txt", "folder/two.jsonl", "folder/three.md"):
        (tmp_path / name).write_bytes(b"x")

    found = by_hand([tmp_path / "one.txt", str(tmp_path / "folder"), tmp_path / "missing"])

    assert [Path(each.path).name for each in found] == ["one.txt", "two.jsonl"]


def test_the_environment_says_where_home_and_cache_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")

    assert _HOME.folder({"X_HOME": "/other"}) == "/other"
    assert _HOME.folder({}) == "/home/me/.x"
    assert cache_folder({"DRAGOMAN_CACHE": "/c"}) == Path("/c")


def test_files_are_as_they_were_or_not(tmp_path: Path) -> None:
    path = tmp_path / "1.jsonl"
    path.write_bytes(b"x")
    now = path.stat()
    known = (os.fsencode(path), now.st_ino, now.st_size, now.st_mtime_ns, 1)

    assert are_still_so([known])
    assert not are_still_so([(*known[:4], 0)])  # it was not read to its end
    with path.open("ab") as file:
        file.write(b"y")
    os.utime(path, ns=(now.st_mtime_ns, now.st_mtime_ns))
    assert not are_still_so([known])  # its time is the same, its size is not
    path.unlink()
    assert not are_still_so([known])


def test_a_tilde_in_the_variable_is_the_users_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    home = Home("codex", HomeFolder("CODEX_HOME", ".codex"), (("sessions", False),), (".jsonl",))

    assert home.folder({"CODEX_HOME": "~/alt"}) == "/home/ada/alt"
    assert home.folder({"CODEX_HOME": ""}) == home.folder({}) == "/home/ada/.codex"


def test_a_file_in_the_homes_of_two_harnesses_is_found_once(tmp_path: Path) -> None:
    (tmp_path / "sessions").mkdir()
    (tmp_path / "sessions" / "one.jsonl").write_bytes(b"x")
    other = _HOME._replace(harness="y")
    folder = str(tmp_path)

    found = walk_all([(_HOME, folder), (other, folder)], folder)

    assert [(Path(each.path).name, each.harness) for each in found] == [("one.jsonl", "x")]
