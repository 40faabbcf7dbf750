from __future__ import annotations

import sqlite3

import pytest

from dragoman.store import schema


def test_migrating_again_changes_nothing() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    schema.migrate(connection)
    before = connection.execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall()

    schema.migrate(connection)

    assert connection.execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall() == before
    connection.close()


def test_each_step_is_taken_once_and_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    schema.migrate(connection)

    def half(given: sqlite3.Connection) -> None:
        given.execute("CREATE TABLE half (x)")
        given.execute("this is not SQL")

    monkeypatch.setattr(schema, "STEPS", (*schema.STEPS, half))
    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 1)
    with pytest.raises(sqlite3.OperationalError):
        schema.migrate(connection)

    assert connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'half'").fetchone() is None
    assert connection.execute("PRAGMA user_version").fetchone()[0] == len(schema.STEPS) - 1
    connection.close()
