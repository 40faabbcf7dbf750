"""Another program's sessions as lines: read, and never written."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from dragoman.store.session_rows import UnknownLayout, session_rows

_DATABASE = Path(__file__).parents[1] / "data" / "opencode" / "database" / "opencode.db"


def test_a_session_is_its_rows_in_order() -> None:
    with session_rows(_DATABASE) as rows:
        sessions = rows.sessions()
        lines = [json.loads(line) for line in rows.lines(sessions[0].session_id)]

    assert len(sessions) == 2
    assert lines[0]["opencode"] == "session"
    assert lines[1]["opencode"] == "message"
    parts = [line["row"]["message_id"] for line in lines if line["opencode"] == "part"]
    messages = [line["row"]["id"] for line in lines if line["opencode"] == "message"]
    assert list(dict.fromkeys(parts)) == [each for each in messages if each in parts]


def test_a_database_with_a_log_is_read_with_its_newest_rows_and_left_as_it_is(
    tmp_path: Path,
) -> None:
    path = tmp_path / "opencode.db"
    shutil.copyfile(_DATABASE, path)
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode=WAL")
    writer.execute("UPDATE session SET title = 'from the log'")
    writer.commit()
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}

    with session_rows(path) as rows:
        first = next(iter(rows.lines(rows.sessions()[0].session_id)))

    assert json.loads(first)["row"]["title"] == "from the log"
    after = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    assert after == before
    writer.close()


def test_another_layout_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE session (id TEXT)")
    connection.commit()
    connection.close()

    with pytest.raises(UnknownLayout, match="table session has no directory"), session_rows(path):
        pass


def test_what_is_no_database_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    path.write_bytes(b"not a database, but long enough to be taken for one" * 100)

    with pytest.raises(sqlite3.DatabaseError), session_rows(path):
        pass
    with pytest.raises(FileNotFoundError), session_rows(tmp_path / "missing.db"):
        pass
