from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from damaged import OLD, put, session_id_of
from dragoman.archive.checking import Finding, check, check_file

_PAGINATED = "0.166.0/patch_all.rollout.jsonl"
_LEGACY = "0.107.0/parallel_tools.exec-rollout.jsonl"
_UNENDED = {"kill_then_resume.rollout.jsonl"}
"""The program was killed: these are broken as they are."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    monkeypatch.setenv("CODEX_HOME", str(home))
    return home


def broken(findings: Iterable[Finding]) -> list[tuple[int, str]]:
    return [(finding.line, finding.kind) for finding in findings if finding.is_broken]


def test_nothing_is_wrong_with_what_the_program_itself_wrote(runs: Path) -> None:
    for path in sorted(runs.glob("*/*rollout*.jsonl")):
        if path.name not in _UNENDED:
            assert broken(check_file(path).findings) == [], path


@pytest.mark.parametrize(
    ("damage", "kinds"),
    [
        ("torn", {"torn", "turn"}),
        ("nuls", {"nul", "ordinal"}),
        ("doubled", {"repeated"}),
        ("swapped", {"ordinal"}),
        ("endless", {"turn"}),
        ("glued", {"unreadable", "ordinal"}),
        ("scribbled", {"unreadable"}),
        ("headless", {"header"}),
    ],
)
def test_damage_is_found_where_it_is(
    runs: Path, tmp_path: Path, damage: str, kinds: set[str]
) -> None:
    path = put(runs / _PAGINATED, tmp_path, damage)

    found = broken(check([path]))

    assert {kind for _, kind in found} == kinds
    half = len((runs / _PAGINATED).read_bytes().splitlines()) // 2
    if damage in ("nuls", "doubled", "swapped", "glued", "scribbled"):
        assert min(line for line, _ in found) in (half + 1, half + 2)


@pytest.mark.parametrize("damage", ["torn", "nuls", "endless", "scribbled", "headless"])
def test_files_without_ordinals_are_looked_at_in_the_same_way(
    runs: Path, tmp_path: Path, damage: str
) -> None:
    assert broken(check([put(runs / _LEGACY, tmp_path, damage)])) != []


def test_a_turn_that_was_killed_has_no_end(runs: Path) -> None:
    found = check_file(runs / "0.153.0/kill_then_resume.rollout.jsonl").findings

    assert broken(found) == [(14, "turn")]
    assert "line 22 begins the next" in found[0].what


def test_a_file_that_was_just_written_may_still_be_at_work(runs: Path, tmp_path: Path) -> None:
    path = put(runs / _PAGINATED, tmp_path, "torn")
    moment = datetime.fromtimestamp(OLD + 10, UTC)

    found = check_file(path, moment).findings

    assert broken(found) == []
    assert all("may still be at work" in finding.what for finding in found)


def test_times_that_run_backwards_are_odd(runs: Path, tmp_path: Path) -> None:
    path = put(runs / _LEGACY, tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[4] = b'{"timestamp":"2001' + lines[4].partition(b'"timestamp":"2026')[2]
    path.write_bytes(b"".join(lines))
    os.utime(path, (OLD, OLD))

    found = list(check([path]))

    assert [(finding.line, finding.kind) for finding in found] == [(5, "time")]
    assert broken(found) == []


def test_a_damaged_compressed_file_says_so(
    runs: Path, tmp_path: Path, compress: Callable[[bytes], bytes]
) -> None:
    data = compress((runs / _PAGINATED).read_bytes() * 50)
    path = tmp_path / "session.jsonl.zst"
    path.write_bytes(data[: len(data) // 2])
    os.utime(path, (OLD, OLD))

    assert (0, "compression") in broken(check_file(path).findings)


def test_a_file_that_cannot_be_read_or_holds_nothing_is_a_finding(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()

    assert broken(check([empty])) == [(0, "header")]
    assert broken(check_file(tmp_path / "gone.jsonl").findings) == [(0, "unreadable")]


def test_names_and_doubles_are_compared_between_files(runs: Path, home: Path) -> None:
    one = put(runs / _PAGINATED, home / "sessions")
    other = one.with_name(one.name.replace("01a1", "ffff"))
    other.write_bytes(one.read_bytes())
    os.utime(other, (OLD, OLD))

    found = {(Path(finding.path), finding.kind): finding for finding in check()}

    assert (other, "name") in found
    assert found[one, "duplicate"].is_broken is False
    assert str(other) in found[one, "duplicate"].what


def test_a_fork_needs_its_parent_to_the_row_it_goes_on_from(runs: Path, home: Path) -> None:
    parent = put(runs / "0.166.0/fork.rollout1.jsonl", home / "sessions")
    child = put(runs / "0.166.0/fork.rollout2.jsonl", home / "sessions")
    assert broken(check()) == []
    assert broken(check([child])) == []  # the parent is looked for at home

    parent.write_bytes(b"".join(parent.read_bytes().splitlines(keepends=True)[:5]))
    os.utime(parent, (OLD, OLD))
    assert "base" in [kind for _, kind in broken(check([child]))]

    parent.unlink()
    assert broken(check([child])) == [(0, "orphan")]


def test_a_sub_agent_without_its_parent_is_only_odd(runs: Path, home: Path) -> None:
    child = put(runs / "0.166.0/subagent_v1.rollout2.jsonl", home / "sessions")

    found = list(check([child]))

    assert [finding.kind for finding in found] == ["orphan"]
    assert broken(found) == []


def test_a_revert_is_a_second_file_by_right(runs: Path, home: Path) -> None:
    first = put(runs / "0.166.0/revert.rollout1.jsonl", home / "sessions")
    second = put(runs / "0.166.0/revert.rollout2.jsonl", home / "archived_sessions")

    assert session_id_of(first) == session_id_of(second)
    assert [finding.kind for finding in check()] == []


def test_the_index_is_asked_about_every_file(runs: Path, tmp_path: Path) -> None:
    path = put(runs / _PAGINATED, tmp_path)

    found = list(check([path], index=lambda each: f"{each.name} is new"))

    assert [finding.kind for finding in found] == ["index"]
