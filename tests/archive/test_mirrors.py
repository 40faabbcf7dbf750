"""Sessions of a database are session files: listed, refreshed when it changes, followed."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.archive.finding import by_hand, folders_of, is_still_so, walk
from dragoman.archive.following import follow
from dragoman.archive.homes import registered
from dragoman.archive.ledger.ledger import find_files
from dragoman.archive.mirrors import DatabaseMirror
from dragoman.model.messages import Text
from dragoman.store.session_rows import SessionRows

_DATABASE = Path(__file__).parents[1] / "data" / "opencode" / "database" / "opencode.db"
_HOME = next(home for home in registered() if home.harness == "opencode")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    shutil.copyfile(_DATABASE, folder / "opencode.db")
    return folder


def _say(database: Path, text: str) -> None:
    connection = sqlite3.connect(database)
    session = connection.execute("SELECT id FROM session ORDER BY id LIMIT 1").fetchone()[0]
    now = 1_800_000_000_000
    message = {"role": "assistant", "modelID": "m1", "time": {"created": now}}
    part = {"type": "text", "text": text, "time": {"start": now, "end": now}}
    connection.execute(
        "INSERT INTO message VALUES (?, ?, ?, ?, ?)",
        ("msg_zz", session, now, now, json.dumps(message)),
    )
    connection.execute(
        "INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)",
        ("prt_zz", "msg_zz", session, now, now, json.dumps(part)),
    )
    connection.execute("UPDATE session SET time_updated = ? WHERE id = ?", (now, session))
    connection.commit()
    connection.close()


def test_each_session_is_a_file(home: Path, tmp_path: Path) -> None:
    found = list(walk(_HOME, str(home), str(tmp_path / "cache")))

    assert len(found) == 2
    assert {each.harness for each in found} == {"opencode"}
    assert all(Path(each.path).stat().st_mode & 0o077 == 0 for each in found)


def test_a_change_is_noticed_and_appended(home: Path, tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    before = {each.path: Path(each.path).read_bytes() for each in walk(_HOME, str(home), cache)}
    states = [
        (path, 5 if when < 0 else when) for path, when in folders_of(_HOME, str(home), 0).items()
    ]
    _say(home / "opencode.db", "More.")

    assert not is_still_so(states)
    after = {each.path: Path(each.path).read_bytes() for each in walk(_HOME, str(home), cache)}
    changed = [path for path in after if after[path] != before[path]]
    assert len(changed) == 1
    assert after[changed[0]].startswith(before[changed[0]])


def test_nothing_is_copied_again_without_a_change(home: Path, tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    first = list(walk(_HOME, str(home), cache))

    assert list(walk(_HOME, str(home), cache)) == first


def test_what_changes_while_it_is_read_is_read_again_later(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = str(tmp_path / "cache")
    list(walk(_HOME, str(home), cache))
    _say(home / "opencode.db", "More.")
    lines = SessionRows.lines

    def disturbed(rows: SessionRows, session_id: str) -> Iterator[bytes]:
        yield from lines(rows, session_id)
        os.utime(home / "opencode.db", (1, 1))

    with monkeypatch.context() as patch:
        patch.setattr(SessionRows, "lines", disturbed)
        found = [each.path for each in walk(_HOME, str(home), cache)]
    assert not any("More." in Path(path).read_text() for path in found)
    found = [each.path for each in walk(_HOME, str(home), cache)]
    assert [path for path in found if "More." in Path(path).read_text()]


def test_a_session_that_was_deleted_is_gone(home: Path, tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    assert len(list(walk(_HOME, str(home), cache))) == 2
    connection = sqlite3.connect(home / "opencode.db")
    connection.execute("DELETE FROM session WHERE id = (SELECT min(id) FROM session)")
    connection.commit()
    connection.close()

    assert len(list(walk(_HOME, str(home), cache))) == 1


def test_a_damaged_database_is_reported_and_hides_nothing(home: Path, tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    database = home / "opencode.db"
    mirror = DatabaseMirror.of(str(database), cache)
    assert len(list(walk(_HOME, str(home), cache))) == 2
    assert mirror.problem() is None
    database.write_bytes(b"no database at all" * 100)

    assert len(list(walk(_HOME, str(home), cache))) == 2
    why = f"cannot read {database}: file is not a database; its sessions may be missing"
    assert mirror.problem() == why

    shutil.copyfile(_DATABASE, database)
    assert len(list(walk(_HOME, str(home), cache))) == 2
    assert mirror.problem() is None


def test_a_database_can_be_named(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRAGOMAN_CACHE", str(tmp_path / "cache"))

    assert len(list(by_hand([home / "opencode.db"]))) == 2
    assert len(find_files([str(home / "opencode.db")])) == 2


def test_a_session_is_followed(home: Path, tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    said: list[str] = []
    following = follow(lambda: list(walk(_HOME, str(home), cache)), sleep=lambda _: None)
    next(following)
    _say(home / "opencode.db", "Something new.")
    for batch in following:
        said += [each.message.text for each in batch if isinstance(each.message, Text)]
        if said:
            break

    assert said == ["Something new."]


def test_an_id_that_is_no_name_is_not_written(tmp_path: Path, home: Path) -> None:
    connection = sqlite3.connect(home / "opencode.db")
    connection.execute("PRAGMA foreign_keys=OFF")
    connection.execute(
        "UPDATE session SET id = '../../escaped' WHERE id = (SELECT min(id) FROM session)"
    )
    connection.commit()
    connection.close()
    mirror = DatabaseMirror.of(str(home / "opencode.db"), str(tmp_path / "cache"))
    mirror.refresh()

    assert len(list(mirror.paths())) == 1
    assert not list(tmp_path.glob("**/escaped*"))
