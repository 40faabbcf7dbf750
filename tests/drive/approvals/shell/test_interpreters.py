from __future__ import annotations

import shlex

import pytest

from dragoman.drive.approvals.shell.interpreters import unnamed_script


def _unnamed(line: str, named: int = 1, *, has_path: bool = False) -> str | None:
    return unnamed_script(shlex.split(line), named, has_path=has_path)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("python", "its prompt"),
        ("bash", "its prompt"),
        ("python x.py", "x.py"),
        ("node --inspect x.js", "--inspect"),
        ("python --version", None),
        ("dart analyze", None),
        ("dart run x", "run"),
        ("ls x.py", None),
    ],
)
def test_a_rule_that_names_only_the_interpreter_names_no_script(
    line: str, found: str | None
) -> None:
    assert _unnamed(line) == found


@pytest.mark.parametrize(("line", "named"), [("python manage.py x", 2), ("python -m pytest", 2)])
def test_a_rule_that_names_the_script_or_the_option_is_enough(line: str, named: int) -> None:
    assert _unnamed(line, named) is None


@pytest.mark.parametrize(
    ("line", "found"), [("python x.py", None), ("python -m x", "-m"), ("python -mx", "-mx")]
)
def test_a_path_of_the_rule_decides_about_files_but_not_about_modules(
    line: str, found: str | None
) -> None:
    assert _unnamed(line, has_path=True) == found
