from __future__ import annotations

import pytest

from dragoman.drive.approvals.shell.permits import uncovered, uncovered_input

_OPTIONS = ["-n", "-l", "--stat", "-<n>"]


@pytest.mark.parametrize(
    "line", ["git log -n 5", "git log -n5", "git log -nl", "git log --stat=80 -- x", "git log -5"]
)
def test_the_options_of_a_rule_are_permitted(line: str) -> None:
    assert uncovered(line.split(), 2, _OPTIONS) is None


@pytest.mark.parametrize(
    "line",
    ["git log -p", "git log --sta", "git log -nx", "git log -- -p", "git log +x", "git log -n5x"],
)
def test_no_others_are(line: str) -> None:
    assert (uncovered(line.split(), 2, _OPTIONS) or "").startswith("the rule does not permit")


def test_a_launcher_needs_the_command_in_the_rule() -> None:
    words = ["timeout", "5", "pytest", "-q"]

    assert uncovered(words, 1, None) is not None
    assert uncovered(words, 2, None) is not None
    assert uncovered(words, 3, None) is None
    assert uncovered(["env"], 1, None) is None


def test_a_pipe_into_an_interpreter_is_not_covered() -> None:
    assert uncovered_input(["sh"]) is not None
    assert uncovered_input(["wc"]) is None
