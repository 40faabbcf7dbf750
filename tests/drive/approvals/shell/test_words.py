from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dragoman.drive.approvals.shell.words import (
    begins_with,
    might_begin_with,
    plain_commands,
    possible_commands,
)


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("ls", [("ls",)]),
        ("  git   status\t-s ", [("git", "status", "-s")]),
        ("rg 'a; b' \"c | d\"", [("rg", "a; b", "c | d")]),
        ("echo a'b'\"c\"", [("echo", "abc")]),
        ("echo ''", [("echo", "")]),
        ("ls; pwd", [("ls",), ("pwd",)]),
        ("ls && pwd || id | wc\nwho", [("ls",), ("pwd",), ("id",), ("wc",), ("who",)]),
        ("ls;", [("ls",)]),
        ('rg "foo\\.bar"', [("rg", "foo\\.bar")]),
        ("git log a#b", [("git", "log", "a#b")]),
        ("ls *.py", [("ls", "*.py")]),
        ("echo 'two\nlines'", [("echo", "two\nlines")]),
        ("ls 2>/dev/null", [("ls",)]),
        ("ls x >/dev/null 2>&1 | wc -l", [("ls", "x"), ("wc", "-l")]),
        ("ls </dev/null && pwd", [("ls",), ("pwd",)]),
    ],
)
def test_a_plain_line_is_read_as_the_shell_reads_it(
    line: str, commands: list[tuple[str, ...]]
) -> None:
    assert plain_commands(line) == tuple(commands)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "  \n ",
        "ls $HOME",
        "ls $(rm x)",
        'ls "$(rm x)"',
        "ls `rm x`",
        'ls "`rm x`"',
        "ls > x",
        "ls 2>&1x",
        "ls >/dev/nullx",
        "ls >/dev/null/x",
        "ls 2>&3",
        "ls &>/dev/null",
        "ls >&/dev/null",
        "ls 2> /dev/null& rm x",
        "cat < x",
        "ls & rm x",
        "ls |& rm x",
        "ls &> x",
        "(ls)",
        "{ ls; }",
        "git {status,push}",
        "ls \\; rm",
        "ls # it's\nrm x\n# '",
        "ls 'unclosed",
        'ls "unclosed',
        'ls "a\\"; rm x; "',
        "ls '\\'' ; rm x #'",
        "ls \\\nrm",
        "cat <<EOF\nrm\nEOF",
        "ls $'a'",
        "ls\rrm x",
        "ls\u00a0x",
        "ls\u2028rm x",
        "ls \u201c; rm x",
        "ls\0",
    ],
)
def test_what_is_not_plain_is_not_guessed(line: str) -> None:
    assert plain_commands(line) is None


@pytest.mark.parametrize(
    "line",
    [
        "rm x",
        "ls; rm x",
        "ls && rm x",
        "ls & rm x",
        "ls | xargs rm x",
        "sudo -u bob rm x",
        "env A=b rm x",
        "A=b rm x",
        "A=$(id) rm x",
        "timeout 5 rm x",
        "/bin/rm x",
        "\\rm x",
        "r'm' x; :",
        'echo $(r"m" x)',
        "echo `rm x`",
        'echo "$(rm x)"',
        "bash -lc 'ls; rm x'",
        "bash -c \"sh -c 'rm x'\"",
        "(rm x)",
        "{ rm x; }",
        "if true; then rm x; fi",
        "for f in *; do rm x; done > log",
        "> out rm x",
        "rm${IFS}x",
        "find . -name y -exec rm x {} ;",
        "! rm x",
        "ssh host rm x",
        "r\\\nm x",
        "RM x",
        "=rm x",
        "C:/bin/RM.EXE x",
    ],
)
def test_a_command_is_found_wherever_it_hides(line: str) -> None:
    found = possible_commands(line)

    assert any(might_begin_with(words, ("rm", "x")) for words in found), found


@pytest.mark.parametrize("line", ["echo rm x", "git rm x", "rmdir x", "git commit -m 'rm x; rm x'"])
def test_a_word_is_not_a_command(line: str) -> None:
    assert not any(might_begin_with(words, ("rm",)) for words in possible_commands(line))


def test_a_prefix_is_made_of_words_not_of_characters() -> None:
    assert begins_with(("git", "status", "-s"), ("git", "status"))
    assert not begins_with(("git", "statusx"), ("git", "status"))
    assert not begins_with(("git",), ("git", "status"))
    assert not begins_with(("/usr/bin/git", "status"), ("git", "status"))


def test_options_may_stand_between_the_words_of_what_is_forbidden() -> None:
    assert might_begin_with(("git", "-C", "there", "push"), ("git", "push"))
    assert might_begin_with(("git", "--no-pager", "-c", "a=b", "push", "-f"), ("git", "push"))
    assert not might_begin_with(("git", "commit", "-m", "push"), ("git", "push"))
    assert not might_begin_with((), ("git",))


_PIECES = st.sampled_from(
    [
        *("git", "status", "ls", "evil", "x", "if", "then", "fi", "exec", "!", "-c", "IFS"),
        *(" ", " ", " ", ";", "&&", "||", "|", "&", "\n", "\t", "$(", "$", "`", "(", ")", "{", "}"),
        *("'", '"', "\\", "#", ">", "<", "=", "*", "[", "]", ",", "\r", "''", '""', "<<"),
    ]
)
_LINES = st.lists(_PIECES, min_size=1, max_size=14).map("".join)


@given(st.text(max_size=40) | _LINES)
def test_no_line_makes_a_reading_fail(line: str) -> None:
    for words in plain_commands(line) or ():
        assert words
    for words in possible_commands(line):
        assert words


@given(st.text(max_size=30) | _LINES, st.sampled_from([";", "&&", "||", "|", "\n", ";\n"]))
def test_nothing_hides_behind_an_operator(line: str, operator: str) -> None:
    commands = plain_commands(f"{line}{operator} evil x")

    assert commands is None or commands[-1] == ("evil", "x")


@pytest.mark.skipif(os.name == "nt", reason="asks a POSIX shell")
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(line=_LINES.filter(lambda line: plain_commands(line) is not None))
@example(line="ls 'a'\"b\" x; evil ''|git status\n! ls")
def test_a_shell_runs_what_was_read_and_nothing_else(tmp_path: Path, line: str) -> None:
    """The programs of the alphabet write down that they ran; the shell finds no others."""
    bin_ = tmp_path / "bin"
    log = tmp_path / "log"
    here = tmp_path / "here"
    if not bin_.exists():
        bin_.mkdir()
        here.mkdir()
        for name in ("git", "ls", "evil"):
            (bin_ / name).write_text(f'#!/bin/sh\necho "{name} $1" >> {log}\n', encoding="utf-8")
            (bin_ / name).chmod(0o755)
    log.write_text("", encoding="utf-8")
    expected = {
        f"{words[0]} {words[1] if len(words) > 1 else ''}"
        for command in plain_commands(line) or ()
        for words in _as_started(command)
    }

    subprocess.run(
        ["/bin/sh", "-c", line],
        cwd=here,
        env={"PATH": str(bin_)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=10,
        check=False,
    )

    ran = set(log.read_text(encoding="utf-8").splitlines())
    assert ran <= expected
    assert list(here.iterdir()) == []


def _as_started(command: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The command from each of its words on: the shell's own words may stand before it."""
    return [command[at:] for at in range(len(command))]
