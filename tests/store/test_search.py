from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.store.database import Database, open_database
from dragoman.store.entries import KINDS, Entries, Entry, Known
from dragoman.store.files import Files, MarkRow
from dragoman.store.maintenance import begin_anew, orphans, tidy
from dragoman.store.queries import parse
from dragoman.store.search import Filters, Search
from dragoman.store.sessions import SessionRow, Sessions
from store_rows import file_row


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(tmp_path)
    yield opened
    opened.close()


def put(database: Database, *texts: str, path: str = "/home/a.jsonl", session: str = "s1") -> int:
    """A file whose entries say these things."""
    file_id = Files(database).add(file_row(path, session))
    row = SessionRow(file_id, session, cwd=f"/work/{session}", harness="codex", last_at=1000.0)
    Sessions(database).replace(file_id, [row])
    given = [
        (
            Entry(
                KINDS[place % 5], 1, place + 1, place * 10, 10, "Bash", place * 100.0, place == 1
            ),
            text,
        )
        for place, text in enumerate(texts)
    ]
    Entries(database).add(file_id, given)
    return file_id


def lines(database: Database, query: str, **filters: object) -> list[int]:
    found = Search(database).find(parse(query).match, Filters(**filters))  # pyright: ignore[reportArgumentType]
    return sorted(match.line for match in found.matches)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("rate", [1, 2]),
        ("RATE", [1, 2]),
        ("rate limit", [1, 2]),
        ('"rate limit"', [1]),
        ("rate -exceeded", [2]),
        ("exc*", [1]),
        ("resume", [3]),
        ("foo_bar", [4]),
        ("bar", []),
        ("foo*", [4]),
        ("src/app/main.py", [4]),
        ("main.py", [4]),
        ("文件", [5]),
        ("件", [5]),
        ("件文", []),
        ("файл", [5]),
        ("naïve", [3]),
        ("exceeded OR файл", [1, 5]),
    ],
)
def test_words_phrases_prefixes_code_and_other_scripts(
    database: Database, query: str, found: list[int]
) -> None:
    put(
        database,
        "rate limit exceeded",
        "the limit of this rate",
        "Résumé of a naive approach",
        "call foo_bar() in src/app/main.py",
        "打开文件吧 файл",
    )

    assert lines(database, query) == found


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, [1, 2, 3]),
        ({"kinds": ("prompt",)}, [1]),
        ({"kinds": ("text", "thinking")}, [2, 3]),
        ({"since": 100.0}, [2, 3]),
        ({"until": 100.0}, [1]),
        ({"tool": "bash"}, [1, 2, 3]),
        ({"tool": "Edit"}, []),
        ({"errors": True}, [2]),
        ({"session_id": "s1"}, [1, 2, 3]),
        ({"session_id": "s2"}, []),
        ({"harness": "codex"}, [1, 2, 3]),
        ({"harness": "other"}, []),
        ({"project": "/work"}, [1, 2, 3]),
        ({"project": "/work/s1"}, [1, 2, 3]),
        ({"project": "s1"}, [1, 2, 3]),
        ({"project": "/wor"}, []),
        ({"project": "%"}, []),
    ],
)
@pytest.mark.parametrize("most", [20_000, 2])
def test_filters(
    database: Database,
    filters: dict[str, object],
    found: list[int],
    most: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same for a word that is ranked, and for one that is too common to be."""
    monkeypatch.setattr("dragoman.store.search._MOST", most)
    put(database, "word one", "word two", "word three")

    assert lines(database, "word", **filters) == found


def test_the_best_match_comes_first(database: Database) -> None:
    words = ["common"] * 20
    put(database, *words, "common rare", "common and much else")

    found = Search(database).find(parse("common OR rare").match, limit=3)

    assert found.is_ranked
    assert found.matches[0].line == 21
    assert found.matches[0].score > found.matches[1].score


def test_what_people_say_comes_before_what_programs_put_out(database: Database) -> None:
    put(database, "x", "x", "x", "x", "word", "word", *["y"] * 20)

    found = Search(database).find("word")

    assert [match.kind for match in found.matches] == ["prompt", "tool_result"]


def test_a_file_that_was_dropped_is_found_no_more(database: Database) -> None:
    first = put(database, "word")
    put(database, "word", path="/home/b.jsonl", session="s2")
    Files(database).drop(first)

    assert [match.session_id for match in Search(database).find("word").matches] == ["s2"]
    assert orphans(database) == 1
    begin_anew(database, 2)
    assert orphans(database) == 0
    assert Search(database).find("word").matches == []
    assert database.fact("edition") == 2


def test_drafts_are_taken_back_words_and_all(database: Database) -> None:
    file_id = put(database, "stays")
    entries = Entries(database)
    entries.add(file_id, [(Entry("text", 1, 2, 10, 5), "drafted 文件")], drafts=True)
    assert lines(database, "drafted") == [2]

    entries.take_back_drafts(file_id)
    entries.add(file_id, [(Entry("text", 1, 3, 10, 5), "final")])

    assert (lines(database, "drafted"), lines(database, "final")) == ([], [3])
    assert database.row("SELECT count(*) FROM texts WHERE texts MATCH 'drafted'")[0] == 0
    assert entries.known_from(file_id, 2) == [Known(3, "text")]
    assert entries.count() == 2


def test_neighbours_stay_in_the_file(database: Database) -> None:
    put(database, "before", path="/home/0.jsonl", session="s0")
    put(database, "a", "b", "c", "d")
    [match] = Search(database).find("b").matches

    near = Search(database).get(Entries(database).near(match.entry_id, 2))

    assert [each.line for each in near] == [1, 2, 3, 4]
    assert {each.session_id for each in near} == {"s1"}


def test_entries_by_the_byte_where_they_begin(database: Database) -> None:
    file_id = put(database, "a", "b", "c")

    assert set(Entries(database).by_offsets(file_id, [10, 20, 999])) == {10, 20}


def test_halves_of_surrogate_pairs_do_no_harm(database: Database) -> None:
    file_id = put(database, "half \ud800 pair")
    Entries(database).add(file_id, [(Entry("tool_call", 1, 9, 0, 1, "odd\udfff"), "tool")])

    assert lines(database, "pair") == [1]
    assert lines(database, "tool") == [9]


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
    files.add_marks(file_id, [MarkRow(3, 30, 1, b"a"), MarkRow(9, 90, 4, b"b")])
    assert files.mark_before(file_id, turn=3) == MarkRow(3, 30, 1, b"a")
    assert files.mark_before(file_id, turn=4) == MarkRow(9, 90, 4, b"b")
    assert files.mark_before_line(file_id, 8) == MarkRow(3, 30, 1, b"a")
    assert files.mark_before(file_id, turn=0) is None
    files.drop(file_id)
    assert files.get(file_id) is None
    assert files.mark_before(file_id, turn=9) is None


def test_tidying_keeps_everything(database: Database) -> None:
    put(database, *(f"word{number}" for number in range(50)))

    tidy(database)

    assert lines(database, "word7") == [8]
