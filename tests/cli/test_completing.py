from __future__ import annotations

from pathlib import Path

import click
import pytest

from dragoman.archive.api import SessionArchive
from dragoman.cli import completing
from dragoman.cli.commands.show import show
from support.archive.home import make_home
from support.archive.saved_sessions import session_id

CONTEXT = click.Context(show)
PARAMETER = show.params[0]


def complete(what: str, typed: str) -> list[tuple[str, str | None]]:
    found = getattr(completing, what)(CONTEXT, PARAMETER, typed)
    return [(item.value, item.help) for item in found]


def test_formats_and_dialects_come_with_what_they_are() -> None:
    [(name, what)] = complete("formats", "mark")
    assert name == "markdown"
    assert what
    assert all(name.startswith("codex-ex") for name, _ in complete("dialects", "codex-ex"))
    assert len(complete("dialects", "codex-ex")) == 3
    assert complete("formats", "nothing") == []


def test_sessions_are_those_that_the_index_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = make_home(tmp_path / "home")
    monkeypatch.setenv("CODEX_HOME", str(home))
    monkeypatch.setenv("DRAGOMAN_CACHE", str(tmp_path / "cache"))
    assert complete("sessions", "") == []  # nothing is indexed while someone types
    with SessionArchive() as archive:
        archive.index()

    assert (session_id(1), "fix the rate limit") in complete("sessions", "01a1")
    assert complete("sessions", "x") == []
    assert complete("sessions_and_files", session_id(1)) == [
        (session_id(1), None),
        (session_id(1), "fix the rate limit"),
    ]
    assert capsys.readouterr() == ("", "")


def test_an_index_that_cannot_be_read_completes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cache").write_text("not a folder", encoding="utf-8")
    monkeypatch.setenv("DRAGOMAN_CACHE", str(tmp_path / "cache"))

    assert complete("sessions", "") == []


def test_approval_modes_are_those_of_the_installed_release(codex_program: str) -> None:
    """The release that is installed here no longer knows on-failure."""
    found = [name for name, _ in complete("asking", "")]

    assert "on-request" in found
    assert "on-failure" not in found
    [(name, summary)] = complete("asking", "nev")
    assert (name, bool(summary)) == ("never", True)
    assert [name for name, _ in complete("access", "re")] == ["read", "read-only"]
    assert "codex" in [name for name, _ in complete("harnesses", "")]
