"""The program that plays stories with the real agents, as far as it can be tried without them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import checks
import limitations
import pytest
import verdicts
from programs import PROGRAMS, NotInstalled, RealProgram, install
from running import STORIES
from stories import ALONE, DRIVEN
from subjects import SUBJECTS
from trial_page import BEGIN, END, PAGE, replaced, section, tables
from verdicts import FAILED, LIMITED, PASSED, Board, Cells

from dragoman.model.messages import ToolCall, ToolResult


def _board() -> Board:
    board = Board()
    cells = Cells(board, "gemini", ALONE, ("one", "two", "three"))
    with cells.cell("one"):
        assert PROGRAMS
    with cells.cell("two"):
        raise AssertionError("seventy-seven")
    cells.finish(None)
    return board


def test_each_cell_passes_or_says_why_not() -> None:
    board = _board()

    marks = {each.cell: (each.mark, each.reason) for each in board.verdicts.values()}
    assert marks["one"] == (PASSED, "")
    assert marks["two"][0] == marks["three"][0] == FAILED
    assert "seventy-seven" in marks["two"][1]
    assert "never came to this" in marks["three"][1]
    assert len(board.bad) == 2


def test_a_limitation_explains_a_failure_and_must_be_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(verdicts, "LIMITATIONS", {("gemini", ALONE, "two"): "It has no way."})
    board = _board()
    assert board.verdicts["gemini", ALONE, "two"].mark == LIMITED
    made = tables(board)
    assert "| two | · 1 |" in made
    assert "1. gemini: It has no way.\n" in made

    works = board.add("gemini", ALONE, "two", None)
    assert (works.mark, "It has no way." in works.reason) == (FAILED, True)


def test_a_table_counts_the_sessions_that_agree_and_is_written_between_its_marks() -> None:
    board = _board()
    board.compared("gemini", ALONE, [])
    board.compared("gemini", ALONE, ["turn 1, text: 'a' against 'b'"])

    made = tables(board)

    assert "| sessions with equal messages live and from their file | 1/2 |" in made
    assert board.unlike == [f"gemini, {ALONE}: turn 1, text: 'a' against 'b'"]
    text = f"before\n{BEGIN}old\n{END}after\n"
    assert replaced(text, made) == f"before\n{BEGIN}\n{made}\n{END}after\n"
    with pytest.raises(ValueError, match="lacks the lines"):
        replaced("nothing", made)


def test_the_page_has_every_cell_of_every_program_and_no_failure() -> None:
    shown = section(PAGE.read_text(encoding="utf-8"))
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in shown.split("\n")]
    # A driver that has just come is in the table with the next run.
    wanted = {
        DRIVEN: {"codex", "claude"},
        ALONE: {name for name, each in SUBJECTS.items() if each.run is not None},
    }
    for table, names in wanted.items():
        head = next(row for row in rows if row and row[0].lower() == table.lower())
        assert names <= {name.split(" ")[0] for name in head[1:]} <= {*SUBJECTS}
        body = rows[rows.index(head) :]
        for cell in (cell for story in STORIES if story.table == table for cell in story.cells):
            row = next(row for row in body if row and row[0] == cell)
            assert all(row[1:]), row
    assert FAILED not in shown


def test_every_limitation_is_about_a_cell_that_exists() -> None:
    known = {(story.table, cell) for story in STORIES for cell in story.cells}
    for subject, table, cell in limitations.LIMITATIONS:
        assert subject in SUBJECTS
        assert (table, cell) in known
    assert {story.table for story in STORIES} == {DRIVEN, ALONE}


def test_a_program_is_started_with_the_node_it_needs(tmp_path: Path) -> None:
    program = RealProgram(
        name="agent", release="1.0", package="agent", script="agent/cli.js", needs_node=True
    )
    script = tmp_path / "agent-1.0" / "node_modules" / "agent" / "cli.js"
    with pytest.raises(NotInstalled):
        install(RealProgram(name="agent", release="1.0"), tmp_path)
    script.parent.mkdir(parents=True)
    with pytest.raises(NotInstalled, match=r"there is no agent/cli\.js"):
        install(program, tmp_path)
    script.touch()

    path = install(program, tmp_path)

    text = path.read_text(encoding="utf-8")
    assert text.startswith("#!/bin/sh\nexec ")
    assert f'{script.parents[1]}/.bin/node {script} "$@"' in text
    assert path.stat().st_mode & 0o111


def test_a_failing_command_must_be_an_error_with_its_exit_code() -> None:
    words = {"command": "echo before; exit 3"}
    call = ToolCall(session_id="s", call_id="c", tool="Bash", native_tool="bash", input=words)
    good = ToolResult(session_id="s", call_id="c", output="before", is_error=True, exit_code=3)
    lenient = ToolResult(session_id="s", call_id="c", output="before")

    checks.failing_command([call, good])
    with pytest.raises(AssertionError):
        checks.failing_command([call, lenient])


def test_the_server_of_the_stories_answers() -> None:
    requests = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
        {
            "id": 3,
            "method": "tools/call",
            "params": {"name": "find", "arguments": {"number": "T-7"}},
        },
        {"id": 4, "method": "nonsense"},
    ]
    done = subprocess.run(
        [sys.executable, str(Path(checks.__file__).with_name("mcp_server.py"))],
        input="".join(json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in requests),
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["id"] for each in answers] == [1, 2, 3, 4]
    assert answers[2]["result"]["content"][0]["text"] == "T-7: the broken door"
    assert answers[3]["error"]["code"] == -32601
