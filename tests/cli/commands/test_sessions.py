from __future__ import annotations

import io
import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dragoman.archive.api import SessionArchive
from dragoman.archive.index.updating import Indexer, Progress
from dragoman.archive.saved import SavedSession
from support.archive.home import Command, command, make_home
from support.archive.index_rows import index_here
from support.archive.saved_sessions import Rows, save, session_id


@pytest.fixture
def sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    return command("sessions", make_home(tmp_path / "home"), tmp_path / "cache", monkeypatch)


def test_sessions_are_listed_newest_first(sessions: Command) -> None:
    code, out, _ = sessions()

    lines = out.split("\n")
    assert code == 0
    assert lines[0].split() == [
        "id",
        "last",
        "project",
        "title",
        "state",
        "turns",
        "tokens",
        "cost",
        "model",
    ]
    assert [line[:13] for line in lines[1:3]] == [session_id(2)[:13], session_id(1)[:13]]
    assert "fix the rate limit" in lines[2]
    assert "app" in lines[2]
    assert lines[3] == ""


def test_sub_agents_are_listed_below_their_parents_when_all_are(sessions: Command) -> None:
    _, out, _ = sessions("--all")

    lines = out.split("\n")[1:4]
    assert [line[:13] for line in lines] == [session_id(number)[:13] for number in (2, 1, 3)]
    assert "└ help" in lines[2]


def test_sub_agents_of_sub_agents_and_of_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The parent of the first is not there, the last two go in a circle.
    parents = {1: 9, 2: 1, 3: 2, 4: 5, 5: 4}
    for number, parent in parents.items():
        spawn = {"subagent": {"thread_spawn": {"parent_thread_id": session_id(parent), "depth": 1}}}
        save(tmp_path / "home", number, Rows(number, source=spawn).turn(f"n{number}", "x").data)
    _, out, _ = command("sessions", tmp_path / "home", tmp_path / "cache", monkeypatch)("--all")

    lines = out.split("\n")[1:-1]
    assert [line[9:13] for line in lines] == ["0001", "0002", "0003", "0005", "0004"]
    assert "└ n2" in lines[1]
    assert "  └ n3" in lines[2]
    assert "└ n4" in lines[4]


def test_lists_for_programs(sessions: Command) -> None:
    _, out, _ = sessions("--json")

    told = [json.loads(line) for line in out.split("\n") if line]
    assert {each["session_id"] for each in told} == {session_id(number) for number in (1, 2, 3)}
    first = next(each for each in told if each["session_id"] == session_id(1))
    assert first["turns"] == 2
    assert first["harness"] == "codex"
    assert first["state"] == "completed"
    assert first["currency"] == "USD"
    assert first["cost"] > 0


def test_costs_are_listed(sessions: Command) -> None:
    _, out, _ = sessions()

    lines = out.split("\n")
    assert lines[0].split()[-3:] == ["tokens", "cost", "model"]
    assert all(line.split()[-2].startswith("$0.00") for line in lines[1:3])


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return 1


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    def size(_: int) -> os.terminal_size:
        return os.terminal_size((120, 30))

    monkeypatch.setattr("dragoman.cli.commands.sessions.standard_output", Screen)
    monkeypatch.setattr(os, "get_terminal_size", size)


class Slowly:
    """The index comes on by a file whenever it is waited for, the newest first."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        index_here(monkeypatch)
        monkeypatch.setattr("dragoman.cli.indexing._LOOK_SECONDS", 0.0)
        self.count = 0
        self.stop_at: int | None = None
        self.listed_at: list[int] = []
        real = SessionArchive.sessions

        def sessions(archive: SessionArchive, **given: object) -> list[SavedSession]:
            self.listed_at.append(self.count)
            return real(archive, **given)  # pyright: ignore[reportArgumentType]

        def wait(archive: SessionArchive, seconds: float) -> Progress | None:
            return self.wait(archive, seconds)

        monkeypatch.setattr(SessionArchive, "sessions", sessions)
        monkeypatch.setattr(SessionArchive, "wait_index", wait)

    def wait(self, archive: SessionArchive, seconds: float) -> Progress | None:
        files = sorted(archive.find(), key=lambda each: each.mtime_ns, reverse=True)
        if seconds and self.count == self.stop_at:
            raise KeyboardInterrupt
        self.count += bool(seconds)
        Indexer(archive._database).run(files[: self.count], are_all=False)
        return Progress(self.count, len(files), 0, 1) if self.count < len(files) else None


@pytest.fixture
def slowly(monkeypatch: pytest.MonkeyPatch) -> Slowly:
    return Slowly(monkeypatch)


def old_files(home: Path) -> None:
    """As old as what is in them."""
    for number in (1, 2, 3):
        path = next(home.rglob(f"*{session_id(number)}.jsonl"))
        at = datetime(2026, 11, 15, 9 + number, 1, tzinfo=UTC).timestamp()
        os.utime(path, (at, at))


@pytest.mark.usefixtures("terminal")
def test_a_list_is_shown_when_it_is_known_and_then_the_rest_is_indexed(
    sessions: Command, tmp_path: Path, slowly: Slowly
) -> None:
    old_files(tmp_path / "home")

    code, out, _ = sessions("-n", "1")

    assert code == 0
    assert out.count(session_id(2)[:13]) == 1  # the third, which is newer, is a sub-agent
    assert slowly.listed_at == [0, 1, 2, 2, 3]
    assert slowly.count == 3


def test_a_program_is_given_the_list_when_all_is_indexed(
    sessions: Command, tmp_path: Path, slowly: Slowly
) -> None:
    old_files(tmp_path / "home")

    _, out, _ = sessions("-n", "1")

    assert out.count(session_id(2)[:13]) == 1
    assert slowly.listed_at[0] == 3


@pytest.mark.usefixtures("terminal")
def test_a_file_that_is_newer_than_its_time_says_comes_into_the_list(
    sessions: Command, tmp_path: Path, slowly: Slowly
) -> None:
    old_files(tmp_path / "home")
    os.utime(next((tmp_path / "home").rglob(f"*{session_id(2)}.jsonl")), (1, 1))

    _, out, _ = sessions("-n", "1")

    lines = out.split("\n")
    assert lines[1].startswith(session_id(1)[:13])
    assert lines[3].startswith(session_id(2)[:13])


@pytest.mark.usefixtures("terminal")
def test_who_does_not_wait_is_shown_what_there_is(
    sessions: Command, tmp_path: Path, slowly: Slowly
) -> None:
    old_files(tmp_path / "home")
    slowly.stop_at = 2

    code, out, err = sessions()

    assert code == 0
    assert session_id(2)[:13] in out
    assert session_id(1)[:13] not in out
    assert "the next command continues from here" in err
    assert slowly.count == 2


def test_what_nobody_knows_the_price_of_is_not_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    strange = Rows(1).turn("x", "y").data.replace(b'"gpt-5.5"', b'"nobody-knows-it"')
    save(tmp_path / "home", 1, strange)
    save(tmp_path / "home", 2, Rows(2).begin("x").say("y").end().data)
    run = command("sessions", tmp_path / "home", tmp_path / "cache", monkeypatch)

    _, out, _ = run()
    _, told, _ = run("--json")

    silent, unpriced = out.split("\n")[1:3]
    assert silent.split()[-2] == "-"
    assert unpriced.split()[-2] == "?"
    for line in told.splitlines():
        assert (json.loads(line)["cost"], json.loads(line)["currency"]) == (None, None)


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        (["--project", "app"], 1),
        (["--project", "/work/other"], 1),
        (["--project", "/nowhere"], 0),
        (["--since", "2026-11-15"], 2),
        (["--since", "2999-01-01"], 0),
        (["--until", "2026-11-01"], 0),
        (["--harness", "codex"], 2),
        (["--harness", "nobody"], 0),
        (["-n", "1"], 1),
        (["--archived"], 0),
        (["--not-archived"], 2),
    ],
)
def test_lists_can_be_narrowed(sessions: Command, arguments: list[str], count: int) -> None:
    code, out, err = sessions(*arguments)

    assert code == 0
    assert len(out.split("\n")) == (count + 2 if count else 1)
    assert count or "no matching sessions in" in err


def test_a_time_that_is_none_is_refused(sessions: Command) -> None:
    code, _, err = sessions("--since", "whenever")

    assert code == 2
    assert "not a time: 'whenever'" in err


def test_a_home_without_sessions_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, err = command("sessions", tmp_path / "no", tmp_path / "cache", monkeypatch)()

    assert (code, out) == (0, "")
    assert f"no sessions in {tmp_path / 'no'}" in err


def test_files_can_be_given_by_hand(sessions: Command, tmp_path: Path) -> None:
    folder = make_home(tmp_path / "elsewhere")

    _, out, _ = sessions("--path", str(folder), "--json")

    assert out.count("elsewhere") == 3


def test_nothing_in_a_title_reaches_the_terminal_but_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(tmp_path / "home", 1, Rows(1).turn("\x1b[31mred\x07", "x").data)
    _, out, _ = command("sessions", tmp_path / "home", tmp_path / "cache", monkeypatch)()

    assert "\x1b" not in out
    assert "[31mred" in out
