from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.archive.api import SessionArchive
from dragoman.errors import UsageError
from dragoman.store.search import Filters
from support.archive.saved_sessions import Rows, save, session_id


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[SessionArchive]:
    rows = Rows(1).begin("where is the rate limit set?")
    rows.run("rg -n 'rate_limit' src/", "src/limits.py:10: rate_limit = 5\n")
    rows.run("pytest", "x" * 5000 + "\nneedle[0] += dx;\n" + "y" * 5000, code=1)
    rows.say("In src/limits.py, line 10. 文件 is the file.").end()
    save(tmp_path / "home", 1, rows.data)
    save(tmp_path / "home", 2, Rows(2, cwd="/work/other").turn("rate", "nothing").data)
    with SessionArchive(home=tmp_path / "home", cache=tmp_path / "cache") as opened:
        opened.index()
        yield opened


def test_a_match_comes_with_words_around_it_and_the_place_to_open(archive: SessionArchive) -> None:
    [hit] = archive.search('"rate limit" set').hits

    assert hit.match.session_id == session_id(1)
    assert (hit.match.kind, hit.match.turn, hit.match.path) == ("prompt", 1, hit.match.path)
    assert hit.snippet is not None
    assert hit.snippet.text == "where is the rate limit set?"
    assert [hit.snippet.text[a:b] for a, b in hit.snippet.spans] == ["rate limit", "set"]


def test_outputs_have_another_name_and_unknown_ones_are_refused(archive: SessionArchive) -> None:
    [hit] = archive.search("rate_limit", Filters(kinds=("tool_output",))).hits

    assert hit.match.tool == "Bash"
    with pytest.raises(UsageError, match="unknown kind 'nonsense'"):
        archive.search("rate", Filters(kinds=("nonsense",)))


def test_neighbours_are_shown_on_demand(archive: SessionArchive) -> None:
    [hit] = archive.search("rate_limit", Filters(kinds=("tool_output",))).hits

    near = archive.around(hit.match, 1)

    assert [each.match.kind for each in near] == ["tool_call", "tool_result", "tool_call"]
    assert all(each.snippet is not None for each in near)


def test_the_middle_of_an_output_is_found_by_a_scan(archive: SessionArchive) -> None:
    assert archive.search("needle").hits == []

    found = archive.scan("needle[0] += dx;")

    assert found.is_scan
    [hit] = found.hits
    assert (hit.match.kind, hit.match.is_error) == ("tool_result", True)
    assert hit.snippet is not None
    assert "needle[0]" in hit.snippet.text
    assert archive.scan("needle[0] += dx;", Filters(project="/work/other")).hits == []
    assert len(archive.scan("NEEDLE[0]", ignore_case=True).hits) == 1
    with pytest.raises(UsageError):
        archive.scan("")


def test_a_match_in_a_file_that_is_gone_has_no_words(
    archive: SessionArchive, tmp_path: Path
) -> None:
    for path in (tmp_path / "home").rglob("*.jsonl"):
        path.unlink()

    [hit] = archive.search('"rate limit" set').hits

    assert hit.snippet is None
