from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.archive.session_files import named_id, session_files
from dragoman.errors import UnreadableSource

_ID = "01a1e150-b3eb-7a30-8813-455db931ee86"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    return tmp_path


def put(home: Path, session_id: str, folder: str = "sessions/2026/11/15") -> Path:
    path = home / folder / f"rollout-2026-11-15T22-25-24-{session_id}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}\n", encoding="utf-8")
    return path


def test_sessions_are_found_in_the_home_and_by_hand(home: Path) -> None:
    one = put(home, _ID)
    two = put(home, _ID.replace("0", "f"), "archived_sessions")
    (home / "sessions" / "notes.txt").write_text("", encoding="utf-8")

    assert set(session_files()) == {one, two}
    assert list(session_files([home / "sessions"])) == [one]
    assert list(session_files([one])) == [one]
    assert named_id(one) == _ID
    with pytest.raises(UnreadableSource, match="no such file"):
        list(session_files([home / "nowhere"]))
