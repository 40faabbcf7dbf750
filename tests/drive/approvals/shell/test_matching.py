from __future__ import annotations

import pytest

from dragoman.drive.approvals.path_globs import ANY
from dragoman.drive.approvals.shell.lexing import MANY
from dragoman.drive.approvals.shell.matching import Match, command_match


@pytest.mark.parametrize(
    ("words", "prefix", "match"),
    [
        ("rm -fr x", "rm -rf", Match.YES),
        ("rm -f x", "rm -rf", Match.NO),
        ("rm --rec --fo x", "rm -rf", Match.YES),
        ("git commit -am x", "git commit --amend", Match.NO),
        ("git commit --amend", "git commit --amend", Match.YES),
        ("git branch -d x", "git branch -D", Match.NO),
        ("git commit -m push", "git push", Match.NO),
        ("docker run -p 80:80 x", "docker run --privileged", Match.NO),
        ("rm -rf a b /", "rm /", Match.YES),
        (f"rm {MANY}", "rm -rf", Match.MAYBE),
        (f"r{ANY}m -rf", "rm -rf", Match.MAYBE),
        (f"/bin/r{ANY} -rf", "rm -rf", Match.MAYBE),
        (f"ls{ANY}s -rf", "rm -rf", Match.NO),
        (f"git {ANY} --force", "git push --force", Match.MAYBE),
        ("", "rm", Match.NO),
    ],
)
def test_a_command_is_held_against_the_words_of_a_rule(
    words: str, prefix: str, match: Match
) -> None:
    assert command_match(words.split(), prefix.split()) is match
