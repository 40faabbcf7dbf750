from __future__ import annotations

import pytest

from dragoman.drive.approvals.path_globs import absolute, matches, relative


@pytest.mark.parametrize(
    ("path", "cwd", "seen"),
    [
        ("/w/src/a.py", "/w", "/w/src/a.py"),
        ("src/a.py", "/w", "/w/src/a.py"),
        ("src/../../etc/passwd", "/w", "/etc/passwd"),
        ("//w/a", "/w", "/w/a"),
        ("./a//b/.", "/w", "/w/a/b"),
        ("a", None, None),
        ("", "/w", None),
        ("~/a", "/w", None),
        ("a\\b", "/w", None),
        ("a\0", "/w", None),
        ("src\\a.py", "C:\\w", "C:/w/src/a.py"),
        ("C:\\w\\..\\x", None, "C:/x"),
    ],
)
def test_a_path_is_seen_from_the_root(path: str, cwd: str | None, seen: str | None) -> None:
    assert absolute(path, cwd) == seen


def test_a_path_outside_has_no_relative_name() -> None:
    assert relative("/w/a", "/w") == "a"
    assert relative("/w/a", "/w/") == "a"
    assert relative("/wx/a", "/w") is None
    assert relative("/w", "/w") is None
    assert relative("/w/a", None) is None
    assert relative("/a", "/") == "a"


@pytest.mark.parametrize(
    ("glob", "path", "yes"),
    [
        ("src/**", "/w/src/a/b.py", True),
        ("src/", "/w/src/a/b.py", True),
        ("./src/**", "/w/src/a", True),
        ("src/**", "/w/srcx/a", False),
        ("src/**", "/w/src", False),
        ("src/*", "/w/src/a/b.py", False),
        ("src/*.py", "/w/src/a.py", True),
        ("src/?.py", "/w/src/a.py", True),
        ("src/?.py", "/w/src//.py", False),
        ("**/*.py", "/w/a.py", True),
        ("**/*.py", "/w/x/y/a.py", True),
        ("*.py", "/w/x/a.py", False),
        ("**", "/w/x", True),
        ("**", "/x", False),
        ("/etc/**", "/etc/passwd", True),
        ("/etc/**", "/w/etc/passwd", False),
        ("a.b", "/w/axb", False),
        ("src/*", "/w/src/a\nb", True),
    ],
)
def test_a_glob_means_what_it_says(glob: str, path: str, yes: bool) -> None:
    assert matches(path, glob, "/w") is yes


def test_case_counts_unless_told_otherwise() -> None:
    assert not matches("/w/.ENV", ".env", "/w")
    assert matches("/w/.ENV", ".env", "/w", any_case=True)


def test_globs_for_windows_take_either_slash() -> None:
    assert matches("C:/w/a", "C:\\w\\*", None)
