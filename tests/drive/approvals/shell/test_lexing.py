from __future__ import annotations

import pytest

from dragoman.drive.approvals.path_globs import ANY, HERE
from dragoman.drive.approvals.shell.lexing import MANY, UNKNOWN, lex


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("a 'b c' \"d\"e", [("a", "b c", "de")]),
        ("a; b && c || d | e\nf & g", [(each,) for each in "abcdefg"]),
        ('a $(b `c`) "$(d)"', [("b", ANY, MANY), ("c",), ("d",), ("a", ANY, MANY, ANY)]),
        ("$'\\x61' {b,c} d\\ e", [("a", "b", "c", "d e")]),
        ("X=a; $X b", [("a", "b"), (ANY, MANY, "b")]),
        ("a <(b) >(c)", [("b",), ("c",), ("a", ANY, ANY)]),
        ("a *.py # b", [("a", f"{ANY}{HERE}.py")]),
        ('"$@"', [(ANY, MANY)]),
        ("a${IFS}b", [("a", "b")]),
        ("a \\\nb", [("a", "b")]),
    ],
)
def test_every_command_is_found(line: str, commands: list[tuple[str, ...]]) -> None:
    assert {each.words for each in lex(line) if each.words} == set(commands)


def test_redirections_and_here_documents_belong_to_their_command() -> None:
    [cat] = lex("cat < in > out 2>&1 <<'E'\nrm x\nE")
    shell, inside, after, *_ = lex("sh <<E <<< more\nrm $(x)\nE\nafter")

    assert (cat.targets, cat.stdin) == (("in", "out", "1"), ("rm x",))
    assert shell.words == ("sh",)
    assert set(shell.stdin) == {"more", "rm $(x)"}
    assert (inside.words, after.words) == (("x",), ("after",))


def test_a_pipe_and_assignments_are_noted() -> None:
    [echo, shell] = lex("A=b echo x | C=d sh")

    assert (echo.assignments, shell.piped_from) == ((("A", "b"),), ("echo", "x"))


@pytest.mark.parametrize("line", ["$(" * 50, "x" * 200_000])
def test_what_is_too_deep_or_too_long_is_unknown(line: str) -> None:
    assert UNKNOWN in {each.words for each in lex(line)}
