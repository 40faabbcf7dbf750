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


@pytest.mark.parametrize(
    ("mode", "found"),
    [
        ("777", Match.YES),
        ("00777", Match.YES),
        ("4777", Match.YES),
        ("u=rwx,go=u", Match.YES),
        ("a+r,a+w,a+x", Match.YES),
        ("ugo+rwX", Match.YES),
        ("755", Match.NO),
        ("u+rwx", Match.NO),
        ("a=rwx,o-w", Match.NO),
        ("+x", Match.NO),
    ],
)
def test_a_mode_matches_however_it_is_written(mode: str, found: Match) -> None:
    assert command_match(("chmod", mode, "x"), ("chmod", "777")) is found


def test_a_commit_without_hooks_is_one_without_verification() -> None:
    words = ("git", "-c", "core.hooksPath=", "commit", "-m", "x")

    assert command_match(words, ("git", "commit", "--no-verify")) is Match.YES
    assert command_match(words, ("git", "commit", "--amend")) is Match.NO
