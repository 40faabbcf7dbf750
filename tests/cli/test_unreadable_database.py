"""A database of sessions that cannot be read is named by every command that looks for sessions."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from support.archive.home import command, make_home

_DATABASE = Path(__file__).parents[1] / "data" / "opencode" / "database" / "opencode.db"


def _garbage(path: Path) -> None:
    path.write_bytes(b"no database at all" * 100)


def _other_layout(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE session (id TEXT)")
    connection.commit()
    connection.close()


def _truncated(path: Path) -> None:
    shutil.copyfile(_DATABASE, path)
    with path.open("r+b") as file:
        file.truncate(5000)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (_garbage, "file is not a database"),
        (_other_layout, "table session has no directory"),
        (_truncated, "malformed"),
    ],
)
@pytest.mark.parametrize(
    ("name", "words"), [("sessions", ["-n", "5"]), ("search", ["limit"]), ("usage", [])]
)
def test_it_is_named_each_time(
    name: str,
    words: list[str],
    make: object,
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert callable(make)
    database = tmp_path / "data" / "opencode" / "opencode.db"
    database.parent.mkdir(parents=True)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    run = command(name, make_home(tmp_path / "home"), tmp_path / "cache", monkeypatch)
    code = run(*words)[0]
    make(database)

    for _ in range(2):  # also when nothing has changed since
        again, _, told = run(*words)
        named = [line for line in told.splitlines() if str(database) in line]
        assert again == code
        assert len(named) == 1
        assert named[0].startswith(f"dragoman: cannot read {database}: ")
        assert why in named[0]


def test_a_session_that_is_not_there_names_the_homes_that_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("XDG_DATA_HOME", "CLAUDE_CONFIG_DIR", "QWEN_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    home = make_home(tmp_path / "home")
    code, _, told = command("show", home, tmp_path / "cache", monkeypatch)("nothing")

    assert code == 2
    assert f"no session 'nothing' in {home}" in told
    assert str(tmp_path / "XDG_DATA_HOME") not in told
    assert "QWEN_HOME" not in told
