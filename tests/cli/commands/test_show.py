from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.archive.home import Command, command, make_home
from support.archive.saved_sessions import session_id


@pytest.fixture
def show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    return command("show", make_home(tmp_path / "home"), tmp_path / "cache", monkeypatch)


def test_a_session_is_shown_by_a_part_of_its_id(show: Command) -> None:
    code, out, _ = show(session_id(1)[:13])

    assert code == 0
    assert "\u203a fix the rate limit" in out
    assert "$ ls" in out
    assert "a.py" not in out  # what went well is not shown
    assert "1 failed: limits" in out  # what went wrong is
    assert f"sub-agent {session_id(3)}: help" in out


def test_results_are_shown_on_demand(show: Command) -> None:
    assert "a.py" in show(session_id(1), "--tools")[1]
    assert "a.py" in show(session_id(1), "--full")[1]


def test_one_turn_alone(show: Command) -> None:
    _, first, _ = show(session_id(1), "--turn", "1")
    _, last, _ = show(session_id(1), "--turn", "-1")

    assert "fix the rate limit" in first
    assert "and now?" not in first
    assert "and now?" in last
    code, _, err = show(session_id(1), "--turn", "7")
    assert code == 2
    assert "no turn 7" in err
    assert "has 2 turns" in err


def test_the_newest(show: Command) -> None:
    assert "say hello" in show("--last")[1]
    assert "rate limit" in show("--last", "--project", "app")[1]
    code, _, err = show("--last", "--project", "nowhere")
    assert code == 2
    assert "no sessions for nowhere" in err


def test_messages_for_programs(show: Command) -> None:
    _, out, _ = show(session_id(2), "--json")

    told = [json.loads(line)["type"] for line in out.split("\n") if line]
    assert told[:3] == ["session_started", "turn_started", "prompt"]


def test_a_line_as_it_is(show: Command, tmp_path: Path) -> None:
    _, out, _ = show(session_id(2), "--line", "1")

    [path] = (tmp_path / "home").rglob(f"*{session_id(2)}.jsonl")
    assert out == path.read_text(encoding="utf-8").split("\n")[0] + "\n"


def test_secrets_are_masked_on_demand(show: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "rate limit")

    for arguments in ([], ["--json"], ["--line", "4"]):
        _, out, _ = show(session_id(1), "--redact", *arguments)
        assert "rate limit" not in out
    assert "[secret-1]" in show(session_id(1), "--redact")[1]


@pytest.mark.parametrize("arguments", [[], [session_id(1), "--last"]])
def test_it_must_be_clear_which_session(show: Command, arguments: list[str]) -> None:
    code, _, err = show(*arguments)

    assert code == 2
    assert "an ID or --last" in err


def test_an_id_that_is_none_is_a_sentence(show: Command) -> None:
    code, _, err = show("nonsense")

    assert code == 2
    assert "no session 'nonsense'" in err
    assert "matches 3 sessions" in show("01a1")[2]
