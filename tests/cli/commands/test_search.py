from __future__ import annotations

import json
from pathlib import Path

import pytest

from dragoman.archive.api import SessionArchive
from dragoman.archive.index.updating import Progress
from support.archive.home import Command, command, make_home
from support.archive.index_rows import index_here
from support.archive.saved_sessions import session_id


@pytest.fixture
def search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    return command("search", make_home(tmp_path / "home"), tmp_path / "cache", monkeypatch)


def test_matches_are_shown_with_the_id_to_open(search: Command) -> None:
    code, out, err = search('"rate limit"')

    assert code == 0
    assert out.split("\n")[0].startswith(f"{session_id(1)[:13]} · turn 1 · prompt")
    assert out.split("\n")[1] == "  fix the rate limit"
    assert err.startswith("1 found in the index in ")


def test_nothing_found_is_exit_code_one(search: Command) -> None:
    code, out, err = search("zebra")

    assert (code, out) == (1, "")
    assert "--scan" in err


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        (["limits"], 1),
        (["limits", "--in", "tool_output"], 1),
        (["limits", "--in", "prompt"], 0),
        (["limits", "--errors"], 1),
        (["hello", "--errors"], 0),
        (["limits", "--tool", "bash"], 1),
        (["limits", "--project", "other"], 0),
        (["limits", "--session", session_id(1)[:13]], 1),
        (["limits", "--session", session_id(2)], 0),
        (["limits", "--since", "2026-11-15"], 1),
        (["limits", "--until", "2026-11-01"], 0),
        (["limits", "--harness", "nobody"], 0),
        (["1 failed: lim", "--scan"], 1),
        (["1 FAILED: lim", "--scan", "-i"], 1),
        (["fix OR hello", "-n", "1"], 1),
    ],
)
def test_searches_can_be_narrowed(search: Command, arguments: list[str], count: int) -> None:
    code, out, _ = search(*arguments, "--json")

    assert code == (0 if count else 1)
    assert len([json.loads(line) for line in out.split("\n") if line]) == count


def test_neighbours(search: Command) -> None:
    _, out, _ = search("limits", "-C", "1")

    kinds = [line[:2] + line[2:].split(":")[0] for line in out.split("\n")[1:4]]
    assert kinds == ["  tool_call", "> tool_output", "  text"]


def test_a_scan_says_that_it_is_one(search: Command) -> None:
    assert "by reading every file" in search("rate limit", "--scan")[2]


def test_wrong_requests_are_sentences(search: Command) -> None:
    assert search("???")[0] == 2
    code, _, err = search("x", "--in", "nonsense")
    assert code == 2
    assert "tool_output" in err


def test_who_does_not_wait_is_told_that_it_is_a_part(
    search: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.archive.index.keeping._MOMENT_SECONDS", 0.0)
    monkeypatch.setattr("dragoman.archive.index.updating._LITTLE", -1)

    def stopped(self: SessionArchive, seconds: float) -> Progress | None:
        if seconds:
            raise KeyboardInterrupt
        return Progress(0, 3, 0, 100)

    monkeypatch.setattr(SessionArchive, "wait_index", stopped)

    for arguments in (["limits"], ["limits", "--json"]):
        code, _, err = search(*arguments)

        assert code == 1
        assert "the next command continues from here" in err
        assert "the search covered only part of the sessions" in err


def test_one_session_is_searched_without_waiting_for_the_others(
    search: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    index_here(monkeypatch)

    code, out, _ = search("limits", "--session", session_id(1))

    assert code == 0
    assert "limits" in out
