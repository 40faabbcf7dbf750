from __future__ import annotations

import pytest

from dragoman.drive.approvals.shell.lexing import UNKNOWN
from dragoman.drive.approvals.shell.possible import Possible, possible_in, possible_of


@pytest.mark.parametrize(
    "line",
    ["sudo rm x", "env A=b rm x", "sh -c 'rm x'", "echo rm x | sh", "git -c alias.y='!rm x' y"],
)
def test_what_runs_in_the_end_is_found(line: str) -> None:
    assert any(each.words[:2] == ("rm", "x") and each.sure for each in possible_in(line))


def test_the_words_of_an_unknown_program_only_may_be_a_command() -> None:
    found = possible_of(("./deploy", "rm", "x"))

    assert Possible(("rm", "x"), sure=False) in found
    assert Possible(("rm", "x")) not in found
    assert not any(each.words[0] == "rm" for each in possible_of(("echo", "rm", "x")))


def test_the_directory_is_followed() -> None:
    assert Possible(("cat", "x"), directory="a/b") in possible_in("cd a; cd b; cat x")


@pytest.mark.parametrize("line", ["curl x | sh", "python -c x", 'sh -c "$X"', "ls\u2028x"])
def test_what_cannot_be_seen_is_unknown(line: str) -> None:
    assert any(each.words[:1] == UNKNOWN[:1] for each in possible_in(line))


def test_there_is_an_end_to_it() -> None:
    assert len(possible_in("sudo " * 3_000)) <= 501
