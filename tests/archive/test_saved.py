from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.archive.api import SessionArchive
from dragoman.errors import UnreadableSource
from support.archive.saved_sessions import save, session_id, simple


def test_a_session_that_was_indexed_anew_meanwhile_says_so(tmp_path: Path) -> None:
    path = save(tmp_path / "home", 1, simple(1, ["one", "two"]))
    with SessionArchive(home=tmp_path / "home", cache=tmp_path / "cache") as archive:
        archive.index()
        session = archive.get(session_id(1))
        path.write_bytes(simple(1, ["other"]))
        archive.index()

        with pytest.raises(UnreadableSource, match="try again"):
            session.messages()


def test_turns_are_folded(tmp_path: Path) -> None:
    save(tmp_path / "home", 1, simple(1, ["one", "two"]))
    with SessionArchive(home=tmp_path / "home", cache=tmp_path / "cache") as archive:
        archive.index()
        turns = archive.get(session_id(1)).turns()

    assert [turn.prompts[0].text for turn in turns] == ["please one", "please two"]
    assert all(len(turn.uses) == 1 for turn in turns)
