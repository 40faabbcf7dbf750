from __future__ import annotations

from dragoman.store.database import Database
from dragoman.store.files import Files
from dragoman.store.maintenance import clear, orphans, tidy
from dragoman.store.search import MessageSearch
from support.archive.store_rows import lines, put


def test_a_file_that_was_dropped_is_found_no_more(database: Database) -> None:
    first = put(database, "word")
    put(database, "word", path="/home/b.jsonl", session="s2")
    Files(database).drop(first)

    assert [match.session_id for match in MessageSearch(database).find("word").matches] == ["s2"]
    assert orphans(database) == 1
    clear(database, 2)
    assert orphans(database) == 0
    assert MessageSearch(database).find("word").matches == []
    assert database.fact("edition") == 2


def test_tidying_keeps_everything(database: Database) -> None:
    put(database, *(f"word{number}" for number in range(50)))

    tidy(database)

    assert lines(database, "word7") == [8]
