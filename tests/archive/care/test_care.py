from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dragoman.archive.api import SessionArchive
from dragoman.archive.care.checking import FileFinding, IndexMismatch, check, check_file
from support.archive.damaged import OLD, put, session_id_of

_PAGINATED = "0.166.0/patch_all.rollout.jsonl"
_LEGACY = "0.107.0/parallel_tools.exec-rollout.jsonl"
_UNENDED = {"kill_then_resume.rollout.jsonl", "err401_killed.mcpserver-rollout.jsonl"}
"""The program was killed in the middle of a turn, so these lack its end."""
_LONG_AFTER = datetime(2100, 1, 1, tzinfo=UTC)
"""By then no file counts as just written, however recent the checkout."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    monkeypatch.setenv("CODEX_HOME", str(home))
    return home


def broken(findings: Iterable[FileFinding]) -> list[tuple[int, str]]:
    return [(finding.line, finding.kind) for finding in findings if finding.is_broken]


def test_nothing_is_wrong_with_what_the_program_itself_wrote(runs: Path) -> None:
    for path in sorted(runs.glob("*/*rollout*.jsonl")):
        if path.name not in _UNENDED:
            assert broken(check_file(path, _LONG_AFTER).findings) == [], path


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
    assert "line 22 starts the next" in found[0].what


def test_a_file_that_was_just_written_may_still_be_at_work(runs: Path, tmp_path: Path) -> None:
    path = put(runs / _PAGINATED, tmp_path, "torn")
    moment = datetime.fromtimestamp(OLD + 10, UTC)

    found = check_file(path, moment).findings

    assert broken(found) == []
    assert all("may still be running" in finding.what for finding in found)


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

    found = list(
        check([path], index=lambda each: IndexMismatch(f"{each.path.name} is new", "wait"))
    )

    assert [(finding.kind, finding.fix, finding.is_broken) for finding in found] == [
        ("index", "wait", False)
    ]


@pytest.fixture
def indexed(runs: Path, home: Path, tmp_path: Path) -> tuple[SessionArchive, Path]:
    path = put(runs / _PAGINATED, home / "sessions")
    archive = SessionArchive(home=home, cache=tmp_path / "cache")
    return archive, path


def out_of_step(archive: SessionArchive, path: Path) -> list[tuple[str, bool]]:
    with archive:
        found = check([path], index=archive.index_check())
        return [(each.what, each.is_broken) for each in found if each.kind == "index"]


def test_an_index_that_has_a_file_as_it_is_says_nothing(
    indexed: tuple[SessionArchive, Path],
) -> None:
    indexed[0].index()

    assert out_of_step(*indexed) == []


def test_an_index_that_was_never_made_is_not_missed(indexed: tuple[SessionArchive, Path]) -> None:
    assert out_of_step(*indexed) == []


def test_an_index_that_is_behind_is_odd(
    runs: Path, home: Path, indexed: tuple[SessionArchive, Path]
) -> None:
    archive, path = indexed
    archive.index()
    put(runs / _LEGACY, home / "sessions")
    os.utime(path, (OLD + 5, OLD + 5))

    with archive:
        found = [each for each in check(index=archive.index_check()) if each.kind == "index"]

    assert {each.what for each in found} == {
        "it was modified since it was indexed",
        "it is not in the index yet",
    }
    assert broken(found) == []


def test_a_file_that_another_took_the_place_of_is_broken(
    indexed: tuple[SessionArchive, Path],
) -> None:
    archive, path = indexed
    archive.index()
    data = path.read_bytes()
    path.write_bytes(data[:-5].replace(b"2026", b"2027", 1) + data[-5:])
    os.utime(path, (OLD, OLD))

    assert [is_broken for _, is_broken in out_of_step(archive, path)] == [True]


def own_list(home: Path, rows: list[tuple[str, str]], name: str = "state_5.sqlite") -> Path:
    with closing(sqlite3.connect(home / name)) as connection:
        connection.execute("CREATE TABLE threads (id TEXT, rollout_path TEXT)")
        connection.executemany("INSERT INTO threads VALUES (?, ?)", rows)
        connection.commit()
    return home / name


def test_what_the_program_lists_itself_is_held_against_the_files(runs: Path, home: Path) -> None:
    known = put(runs / _PAGINATED, home / "sessions")
    unknown = put(runs / _LEGACY, home / "archived_sessions")
    gone = home / "sessions" / "gone.jsonl"
    moved = (session_id_of(known), str(home / "sessions" / "where it was.jsonl"))
    own_list(home, [("old", "nonsense")], "state_4.sqlite")
    own_list(home, [moved, ("lost", str(gone))])

    found = [each for each in check() if each.kind == "list"]

    assert [Path(each.path) for each in found] == [gone, unknown]
    assert "state_5.sqlite lists session lost, whose file is missing" in found[0].what
    assert "does not list it" in found[1].what
    assert broken(found) == []
    assert [each for each in check([known]) if each.kind == "list"] == []


def test_a_list_that_cannot_be_read_is_not_missed(
    runs: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(runs / _PAGINATED, home / "sessions")
    (home / "state_5.sqlite").write_bytes(b"something else")
    assert list(check()) == []

    monkeypatch.setenv("CODEX_SQLITE_HOME", str(tmp_path / "nowhere"))
    assert list(check()) == []


@pytest.mark.parametrize(
    "row",
    [
        b'{"timestamp":"2026-11-15T22:25:25Z","type":"event_msg","payload":'
        b'{"type":["task_started"],"turn_id":{}}}',
        b'{"timestamp":"0001-01-01T00:00:00Z","type":"event_msg","payload":{"type":"x"}}',
        b'{"timestamp":{},"ordinal":[],"type":"event_msg","payload":7}',
        b'{"timestamp":"9999-12-31T23:59:59+00:00","type":"session_meta","payload":{"id":[]}}',
    ],
)
def test_values_of_any_type_are_only_odd(runs: Path, tmp_path: Path, row: bytes) -> None:
    path = put(runs / _LEGACY, tmp_path)
    with path.open("ab") as file:
        file.write(row + b"\n" + row.replace(b"2026", b"2027") + b"\n")

    report = check_file(path)

    assert report.checker.session_id is not None
    assert report.lines == path.read_bytes().count(b"\n")
