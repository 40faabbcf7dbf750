from __future__ import annotations

import sqlite3
from pathlib import Path

import click
import pytest

from dragoman.archive.api import SessionArchive
from dragoman.cli.archive_options import (
    last_session,
    open_archive,
    session_path,
    session_to_resume,
)
from dragoman.errors import UsageError
from support.archive.home import make_home
from support.archive.index_rows import index_here
from support.archive.saved_sessions import session_id


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DRAGOMAN_CACHE", str(tmp_path / "cache"))
    return make_home(tmp_path / "home")


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is indexed at once, and everything here."""
    index_here(monkeypatch)


@pytest.mark.usefixtures("slow")
def test_a_session_is_there_before_the_rest_is(home: Path) -> None:
    with open_archive((), wanted=session_id(2)[:13]) as archive:
        assert [each.id for each in archive.sessions()] == [session_id(2)]
        assert archive.wait_index(0.0) is not None


@pytest.mark.usefixtures("slow")
def test_a_session_whose_file_is_called_otherwise_is_waited_for(home: Path) -> None:
    path = next(home.rglob(f"*{session_id(2)}.jsonl"))
    path.rename(path.with_name("rollout-renamed.jsonl"))

    with open_archive((), wanted=session_id(2)) as archive:
        assert archive.get(session_id(2)).title == "say hello"


@pytest.mark.usefixtures("slow")
def test_the_newest_session_is_waited_for_and_no_more(home: Path) -> None:
    with open_archive(()) as archive:
        assert archive.sessions() == []
        assert last_session(archive).id == session_id(2)  # the third is a sub-agent


def test_trouble_is_told_and_the_rest_is_shown(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    next(home.rglob("*.jsonl")).with_name("rollout-odd.jsonl").mkdir()

    with open_archive(()) as archive:
        assert len(archive.sessions()) == 3

    assert "rollout-odd.jsonl: it is a directory" in capsys.readouterr().err


def test_the_archive_is_closed_with_the_command(home: Path) -> None:
    opened: list[SessionArchive] = []

    @click.command()
    def command() -> None:
        opened.append(open_archive(()))
        assert len(opened[0].sessions()) == 3

    command.main(args=[], standalone_mode=False)

    with pytest.raises(sqlite3.ProgrammingError):
        opened[0].sessions()


def test_a_file_is_taken_before_a_session_of_that_name(home: Path, tmp_path: Path) -> None:
    assert session_path(session_id(1)).endswith(f"{session_id(1)}.jsonl")
    assert session_path(str(tmp_path / "no" / "file")) == str(tmp_path / "no" / "file")


@pytest.mark.usefixtures("home")
def test_what_to_resume_is_an_id_its_start_a_name_or_the_newest_here(tmp_path: Path) -> None:
    assert session_to_resume(None, False, "/work/app") is None
    assert session_to_resume(session_id(1)[:13], False, "/work/app") == session_id(1)
    assert session_to_resume("fix the rate limit", False, "/") == session_id(1)
    assert session_to_resume(None, True, "/work/app") == session_id(1)
    assert session_to_resume("", True, "/work/app") == session_id(1)


@pytest.mark.usefixtures("home")
def test_the_archive_is_closed_as_soon_as_it_is_known_what_to_resume(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[SessionArchive] = []
    begin = SessionArchive.begin_index

    def note(archive: SessionArchive) -> object:
        opened.append(archive)
        return begin(archive)

    monkeypatch.setattr(SessionArchive, "begin_index", note)
    session_to_resume(session_id(1), False, "/work/app")
    session_to_resume(None, True, "/work/app")
    session_path(session_id(1))
    with pytest.raises(UsageError):
        session_to_resume("nonsense", False, "/work/app")

    assert len(opened) == 4
    for each in opened:
        with pytest.raises(sqlite3.ProgrammingError):
            each.sessions()


@pytest.mark.usefixtures("home")
def test_what_cannot_be_resumed_is_a_sentence() -> None:
    with pytest.raises(click.UsageError, match="the ID or name of a session"):
        session_to_resume("", False, "/work/app")
    with pytest.raises(click.UsageError, match="use either --resume or --last"):
        session_to_resume("01a1", True, "/work/app")
    with pytest.raises(UsageError, match="no session 'nonsense'"):
        session_to_resume("nonsense", False, "/work/app")
    with pytest.raises(
        UsageError, match="no session to resume in /nowhere; the newest one elsewhere"
    ):
        session_to_resume(None, True, "/nowhere")
    with pytest.raises(UsageError, match="no session to resume in /work; the newest"):
        session_to_resume(None, True, "/work")  # those below it are sessions of other directories
