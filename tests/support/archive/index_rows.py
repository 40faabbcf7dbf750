"""An index that is built when a test wants it, and what one says, to be held against another."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from dragoman.archive.api import SessionArchive


def index_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have nothing indexed at once, and no process beside us: only who waits gets on."""

    def nobody(_: object) -> None:
        return None

    monkeypatch.setattr("dragoman.archive.index.keeping._MOMENT_SECONDS", 1e-6)
    monkeypatch.setattr("dragoman.archive.index.updating._LITTLE", -1)
    monkeypatch.setattr("dragoman.archive.index.background.start", nobody)


def rows_of(archive: SessionArchive) -> tuple[list[Any], ...]:
    """All that the index says, but for ids."""
    database = archive._database
    entries = database.rows(
        "SELECT f.path, e.session_id, e.turn, e.kind, t.name, e.at, e.is_error, e.offset, e.length, "
        "e.line FROM entries e JOIN files f ON f.file_id = e.file_id "
        "LEFT JOIN tools t USING (tool) ORDER BY f.path, e.line, e.kind"
    )
    sessions = database.rows(
        "SELECT f.path, s.session_id, s.title, s.started_at, s.last_at, s.turns, s.outcome, "
        "s.is_open, s.input_tokens FROM sessions s JOIN files f USING (file_id) ORDER BY 1, 2"
    )
    turns = database.rows(
        "SELECT f.path, t.turn, t.seq, t.title, t.outcome FROM turns t JOIN files f USING (file_id) "
        "ORDER BY 1, 2"
    )
    words = database.rows("SELECT count(*) FROM texts WHERE texts MATCH 'output OR please OR echo'")
    return entries, sessions, turns, words


def fresh(home: Path, tmp_path: Path) -> tuple[list[Any], ...]:
    """What an index says that was built from nothing."""
    cache = tmp_path / f"fresh-{random.random()}"
    with SessionArchive(home=home, cache=cache) as other:
        other.index()
        return rows_of(other)
