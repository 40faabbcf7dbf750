from __future__ import annotations

import pytest

from dragoman.drive.approvals.path_globs import ANY
from dragoman.drive.approvals.shell.paths import expanded, parts, shown_paths


@pytest.mark.parametrize(
    "word",
    [".env", "--file=.env", "@.env", "file=@.env", "HEAD:.env", "-f.env", "a:.env:b", "a,.env"],
)
def test_a_path_is_seen_inside_of_a_word(word: str) -> None:
    assert ".env" in list(parts(word))


def test_code_and_targets_show_paths_too() -> None:
    assert ".env" in list(shown_paths(("python", "-c", "open('.env')")))
    assert ".env" in list(shown_paths((":",), (".env",)))
    assert ".env" not in list(shown_paths(("git", "commit", "-m", "about .env")))


def test_the_home_directory_is_written_out() -> None:
    assert expanded("~/x", "/home/me") == "/home/me/x"
    assert expanded("~bob/x", "/home/me") == f"{ANY}/x"
    assert expanded("x", None) == "x"


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("tar -C config -cf - .env", "config/.env"),
        ("git --work-tree=config add .env", "config/.env"),
        ("git show :(top).env", ".env"),
        ("git diff -- :/.env", ".env"),
        ("rg -g *.env KEY", ".env"),
        ("grep -r --include=.e* x", f".e{ANY}"),
        ("fd ^\\.env$ -X cat", ".env"),
        ("find src -name .env -exec cat {} +", f"src/{ANY}/.env"),
    ],
)
def test_what_a_program_makes_of_a_word_is_a_path(line: str, path: str) -> None:
    assert path in list(shown_paths(tuple(line.split())))


def test_find_that_runs_nothing_passes_on_no_files() -> None:
    assert f"src/{ANY}/.env" not in list(shown_paths(("find", "src", "-name", ".env")))
