from __future__ import annotations

import pytest

from dragoman.drive.approvals.shell.plain import certain_commands, certain_words, read_plain


def test_pipes_and_globs_are_noted() -> None:
    first, second, third = list(read_plain("ls *.py '*' | wc -l; pwd") or [])

    assert (first.loose, second.piped, third.piped) == ({1}, True, False)


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("bash -lc 'git status && ls'", [("git", "status"), ("ls",)]),
        ("sh -c 'bash -c ls'", [("ls",)]),
        ("./bash -c ls", [("./bash", "-c", "ls")]),
        ("pwsh -Command 'git status'", [("git", "status")]),
    ],
)
def test_known_shells_are_taken_away(line: str, commands: list[tuple[str, ...]]) -> None:
    assert [each.words for each in certain_commands(line) or ()] == commands


@pytest.mark.parametrize(
    "line",
    ["cmd /c ls", "pwsh -Command 'git @x'", "bash -c 'ls $X'", 'sh -c \'sh -c "sh -c \\"sh\\""\''],
)
def test_what_is_inside_must_be_certain_too(line: str) -> None:
    assert certain_commands(line) is None


def test_a_change_of_directory_is_followed_or_not_known() -> None:
    def moves(line: str) -> tuple[str, ...] | None:
        return (certain_commands(line) or [])[-1].moves

    assert moves("ls") == ()
    assert moves("cd a; cd b && ls") == ("a", "b")
    assert moves("cd; ls") is None
    assert moves("cd -; ls") is None
    assert moves("pushd a; ls") is None
    assert moves("builtin cd a; ls") is None


def test_a_command_that_changes_the_shell_is_noted() -> None:
    for line in ("export A=b; ls", "alias ls=x; ls", "printf -v x y; ls", "builtin source x; ls"):
        assert (certain_commands(line) or [])[-1].changed is not None
    assert (certain_commands("set -euo pipefail; ls") or [])[-1].changed is None


def test_words_are_taken_as_they_are() -> None:
    [command] = certain_words(["git", "status; rm x", "*"]) or []

    assert (command.words, command.loose) == (("git", "status; rm x", "*"), frozenset())
    assert certain_words([]) is None
    assert certain_words([""]) is None
