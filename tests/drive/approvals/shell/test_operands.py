from __future__ import annotations

import shlex

import pytest

from dragoman.drive.approvals.shell.operands import file_words, touches_files


@pytest.mark.parametrize(
    ("line", "paths"),
    [
        ("cat /etc/x a", ["/etc/x", "a"]),
        ("cat -f/etc/x --out=/y", ["/etc/x", "/y"]),
        ("tar -cf/x", ["f/x", "/x"]),
        ("curl @/etc/x", ["/etc/x"]),
        ("cat /dev/null", []),
        ("cut -d/ x", ["x"]),
        ("cat file:///x", ["file:///x", "/"]),
    ],
)
def test_words_and_values_of_options_may_name_files(line: str, paths: list[str]) -> None:
    assert [path for _, path in file_words(shlex.split(line), 1)] == paths


@pytest.mark.parametrize(
    ("line", "paths"),
    [
        ("grep /etc/x a", ["a"]),
        ("grep -e /etc/x a", ["a"]),
        ("grep -f /etc/x a", ["/etc/x", "a"]),
        ("sed s/a/b/ x", ["x"]),
        ("git commit -m /etc/x", ["commit"]),
    ],
)
def test_patterns_scripts_and_messages_are_no_files(line: str, paths: list[str]) -> None:
    found = [path for word, path in file_words(shlex.split(line), 1) if word[0] != "-"]
    assert found == paths


def test_a_pattern_of_the_shell_may_become_the_parent_directory() -> None:
    assert list(file_words(["cat", ".*/x"], 1, frozenset((1,)))) == [(".*/x", "../x")]
    assert list(file_words(["cat", ".*/x"], 1)) == [(".*/x", ".*/x")]


def test_some_programs_open_no_file_that_they_name() -> None:
    assert not touches_files(["/bin/echo", "/etc/x"])
    assert touches_files(["cat", "/etc/x"])
