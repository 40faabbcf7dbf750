from __future__ import annotations

from pathlib import Path

from dragoman.store.database import open_database
from dragoman.store.files import Files
from dragoman.store.sessions import IndexedSession, SessionTable
from support.archive.store_rows import file_row


def test_the_newest_file_speaks_for_a_session(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    sessions, files = SessionTable(database), Files(database)
    for name, last_at, title in (("a", 5.0, "old"), ("b", 9.0, "new")):
        file_id = files.add(file_row(f"/{name}.jsonl"))
        sessions.replace(file_id, [IndexedSession(file_id, "s1", title=title, last_at=last_at)])

    assert [each.row.title for each in sessions.list()] == ["new"]
    assert sessions.count() == 1
    assert [row.path for row in files.of_session("s1")] == ["/a.jsonl", "/b.jsonl"]
    database.close()


def test_lists_are_filtered_and_in_order(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    sessions = SessionTable(database)
    file_id = Files(database).add(file_row("/a.jsonl"))
    rows = [
        IndexedSession(file_id, "s1", cwd="/work/a", last_at=1.0, harness="codex"),
        IndexedSession(file_id, "s2", cwd="/work/a/b", last_at=2.0, harness="codex"),
        IndexedSession(file_id, "s3", "s1", "sub-agent", cwd="/work/a_b", last_at=3.0, harness="x"),
    ]
    sessions.replace(file_id, rows)

    def ids(**given: object) -> list[str]:
        return [each.row.session_id for each in sessions.list(**given)]  # pyright: ignore[reportArgumentType]

    assert ids() == ["s3", "s2", "s1"]
    assert ids(limit=1) == ["s3"]
    assert ids(limit=1, without={"s3", "none"}) == ["s2"]
    assert ids(project="/work/a") == ["s2", "s1"]
    assert ids(project="/work/a/") == ["s2", "s1"]
    assert ids(project="b") == ["s2"]
    assert ids(project="a_b") == ["s3"]
    assert ids(since=2.0) == ["s3", "s2"]
    assert ids(until=2.0) == ["s1"]
    assert ids(harness="x") == ["s3"]
    assert ids(top=True) == ["s2", "s1"]
    assert ids(archived=True) == []
    assert [each.row.session_id for each in sessions.matching("s")] == ["s3", "s2", "s1"]
    assert [each.row.session_id for each in sessions.children("s1")] == ["s3"]
    database.close()
