from __future__ import annotations

import shlex

import pytest

from dragoman.drive.approvals.shell.escapes.subcommands import operands, running_subcommand


@pytest.mark.parametrize(
    ("line", "named", "found"),
    [
        ("npm config set a b", 1, "config"),
        ("npm --loglevel warn config set a b", 1, "config"),
        ("npm config set a b", 2, None),
        ("npm test config", 1, None),
        ("npm run build", 1, None),
        ("aws s3 ls", 1, None),
        ("aws ssm send-command", 1, "ssm send-command"),
        ("aws ssm send-command", 2, "ssm send-command"),
        ("go env -w A=b", 1, "env -w"),
        ("go env GOPATH", 1, None),
        ("mvn exec:exec", 1, "exec:exec"),
        ("mvn dependency:tree", 1, None),
        ("sbt 'set a := b' compile", 1, "set a := b"),
        ("some-tool exec", 1, None),
    ],
)
def test_a_subcommand_that_runs_others_is_found(line: str, named: int, found: str | None) -> None:
    words = shlex.split(line)

    assert running_subcommand(words[0], words, named) == found


def test_a_word_after_an_option_may_be_its_value() -> None:
    assert list(operands(["a", "-x", "b", "c", "d"])) == [2, 3]
    assert list(operands(["a", "-x=b", "c", "d"])) == [2]
