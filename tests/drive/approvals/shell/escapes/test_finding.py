from __future__ import annotations

import shlex

import pytest

from dragoman.drive.approvals.shell.escapes.finding import (
    command_values,
    escape,
    has_escapes,
    is_git_command,
)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("rg --pre sh x", "--pre"),
        ("rg -lz x", "-lz"),
        ("git -c a=b status", "-c"),
        ("git diff --outp=x", "--outp=x"),
        ("git grep -lOsh x", "-lOsh"),
        ("git pwn", "pwn"),
        ("git config a b", "config a"),
        ("sort -uo x y", "-uo"),
        ("make CC=x", "CC=x"),
        ("python -m pytest -p x", "-p"),
    ],
)
def test_an_option_that_does_more_is_named(line: str, word: str) -> None:
    assert escape(shlex.split(line)) == word


@pytest.mark.parametrize(
    "line",
    [
        "rg -n x",
        "git diff --stat",
        "git switch -c x",
        "git commit -m x",
        "git diff --text",
        "make -j4",
        "ls -o",
    ],
)
def test_other_options_are_covered(line: str) -> None:
    assert escape(shlex.split(line)) is None


def test_what_the_rule_names_is_covered() -> None:
    assert escape(["git", "config", "--list"], named=2) is None
    assert escape(["rg", "--pre", "sh"], named=2) is None


def test_the_values_of_such_options_may_be_commands() -> None:
    assert next(command_values(["tar", "--checkpoint-action=exec=rm x", "y"])) == "rm x"
    assert "rm" in list(command_values(["rg", "--pre", "rm"]))
    assert has_escapes(["rg"])
    assert not has_escapes(["ls"])
    assert is_git_command("status")
    assert not is_git_command("pwn")
