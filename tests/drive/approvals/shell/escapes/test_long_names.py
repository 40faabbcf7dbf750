from __future__ import annotations

import pytest

from dragoman.drive.approvals.shell.escapes.long_names import is_telling


@pytest.mark.parametrize(
    "word",
    [
        "--init-hook=x",
        "--diff-cmd",
        "--load-plugins",
        "--rcfile=x",
        "--output-dir",
        "--testResultsProcessor=./x",
        "--pythonpath",
        "--reporter=./x",
    ],
)
def test_a_name_that_says_what_it_does_is_telling(word: str) -> None:
    assert is_telling("some-tool", word, None)


@pytest.mark.parametrize(
    "word",
    [
        "--verbose",
        "--no-config",
        "--profile=release",
        "--output=json",
        "--reporter=dot",
        "-c",
        "--",
    ],
)
def test_other_names_are_not(word: str) -> None:
    assert not is_telling("some-tool", word, None)


def test_the_next_word_may_be_the_value() -> None:
    assert is_telling("jest", "--runner", "./x")
    assert not is_telling("kubectl", "--output", "json")


def test_a_name_may_mean_something_else_to_one_program() -> None:
    assert is_telling("some-tool", "--config", None)
    assert not is_telling("cmake", "--config", None)
