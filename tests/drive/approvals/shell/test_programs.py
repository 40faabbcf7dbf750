from __future__ import annotations

import pytest

from dragoman.drive.approvals.shell.programs import (
    inner_operands,
    is_unknown,
    program,
    reads_script,
    runs_code,
)


def test_a_program_is_known_by_its_name() -> None:
    assert program("/usr/bin/Python3.12") == "python"
    assert program("C:\\bin\\RM.EXE") == "rm"
    assert program("=ls") == "ls"


@pytest.mark.parametrize(
    ("line", "operands"),
    [
        ("env x", 0),
        ("timeout 5 x", 1),
        ("docker run image x", 2),
        ("docker ps", None),
        ("uv run x", 1),
        ("uv sync", None),
        ("git bisect run x", 2),
        ("git rebase main", None),
        ("git rebase -x y main", 1),
        ("find . -name x", None),
        ("find . -exec x", 0),
        ("ls", None),
    ],
)
def test_launchers_are_known(line: str, operands: int | None) -> None:
    assert inner_operands(line.split()) == operands


@pytest.mark.parametrize(
    "line", ["python -c x", "python -Ic x", "perl -ne x", "node --eval=x", "vim +x"]
)
def test_code_among_the_words_is_seen(line: str) -> None:
    assert runs_code(line.split())


@pytest.mark.parametrize(
    "line", ["python x.py -c y", "python -m pytest -c y", "sed -n 5p x", "ls -c"]
)
def test_words_for_a_script_are_not_code(line: str) -> None:
    assert not runs_code(line.split())


def test_some_read_scripts_from_a_pipe() -> None:
    assert reads_script(["sh"])
    assert reads_script(["python3", "-"])
    assert not reads_script(["python3", "x.py"])
    assert not reads_script(["wc", "-l"])


def test_other_programs_are_unknown() -> None:
    assert is_unknown(["./deploy", "x"])
    assert not is_unknown(["git", "x"])


def test_awk_that_includes_a_file_is_code() -> None:
    assert runs_code(["awk", '@include "x"'])
    assert runs_code(["awk", 'BEGIN { f = "system"; @f("id") }'])
    assert not runs_code(["awk", "{print $1}", "a"])
