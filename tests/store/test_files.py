from __future__ import annotations

from dragoman.store.database import Database
from dragoman.store.files import Files, MarkRow, TurnRow
from support.archive.store_rows import file_row


def test_files_keep_what_they_are_told(database: Database) -> None:
    files = Files(database)
    odd = "/home/\udcff.jsonl"  # a name that is not UTF-8
    file_id = files.add(file_row(odd))

    row = files.at(odd)

    assert row is not None
    assert (row.file_id, row.path, row.complete) == (file_id, odd, True)
    files.update(row._replace(size=7, mark_line=3, mark_state=b"x"))
    assert files.all()[odd].size == 7
    assert files.states()[odd][2] == 7
    files.add_marks(file_id, [MarkRow(3, 30, 1, b"a", 2), MarkRow(9, 90, 4, b"b", 8)])
    assert files.mark_before(file_id, turn=3) == MarkRow(3, 30, 1, b"a", 2)
    assert files.mark_before(file_id, turn=4) == MarkRow(9, 90, 4, b"b", 8)
    assert files.mark_before_line(file_id, 8) == MarkRow(3, 30, 1, b"a", 2)
    assert files.mark_before(file_id, turn=0) is None
    assert files.mark_before_message(file_id, 8) == MarkRow(3, 30, 1, b"a", 2)
    assert files.mark_before_message(file_id, 9) == MarkRow(9, 90, 4, b"b", 8)
    assert files.mark_before_message(file_id, 2) is None
    files.add_turns(file_id, [TurnRow(1, 3, "first"), TurnRow(2, 9)])
    files.add_turns(file_id, [TurnRow(2, 9, "second", "completed")])
    assert files.turns(file_id) == [
        TurnRow(1, 3, "first", None),
        TurnRow(2, 9, "second", "completed"),
    ]
    files.drop(file_id)
    assert files.get(file_id) is None
    assert files.turns(file_id) == []
    assert files.mark_before(file_id, turn=9) is None


def test_folders_are_remembered(database: Database) -> None:
    files = Files(database)
    files.set_folders({"/a": 5, "/b": 0})
    files.set_folders({"/a": 6})

    assert files.folders() == [("/a", 6)]
    assert list(files.fast_states()) == []
