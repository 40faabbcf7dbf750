from __future__ import annotations

import pytest

from dragoman.store.database import Database
from dragoman.store.queries import parse
from dragoman.store.search import MessageSearch
from support.archive.store_rows import lines, put


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

    found = MessageSearch(database).find(parse("common OR rare").match, limit=3)

    assert found.is_ranked
    assert found.matches[0].line == 21
    assert found.matches[0].score > found.matches[1].score


def test_what_people_say_comes_before_what_programs_put_out(database: Database) -> None:
    put(database, "x", "x", "x", "x", "word", "word", *["y"] * 20)

    found = MessageSearch(database).find("word")

    assert [match.kind for match in found.matches] == ["prompt", "tool_result"]
