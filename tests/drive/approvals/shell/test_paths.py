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
