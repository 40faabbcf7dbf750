from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.archive.api import SessionArchive
from dragoman.archive.saved import SavedSession
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


@pytest.mark.parametrize("few", [0, 100], ids=["all rows", "by their ids"])
def test_the_files_of_many_sessions_are_looked_up_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr("dragoman.store.files._FEW", few)
    for number in (1, 2, 3):
        save(tmp_path / "home", number, simple(number, ["one"]))
    with SessionArchive(home=tmp_path / "home", cache=tmp_path / "cache") as archive:
        archive.index()
        sessions = archive.sessions()

        states = SavedSession.file_states(sessions[:2])

        assert states == {
            each.id: [(file.size, file.mtime_ns) for file in each.files()] for each in sessions[:2]
        }
        assert all(len(files) == 1 for files in states.values())
        assert SavedSession.file_states([]) == {}
