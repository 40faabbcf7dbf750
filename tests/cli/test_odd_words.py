"""Words and names that are no UTF-8, as a command line may well have them."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.archive.home import command, make_home

ODD = "x\udcff"
CASES = {
    "show": ([ODD], 2, f"no session {ODD!r}"),
    "export": ([ODD, "--to", "markdown"], 2, f"no session {ODD!r}"),
    "replay": ([ODD], 2, f"no session {ODD!r}"),
    "tail": ([ODD], 2, f"no session {ODD!r}"),
    "search": ([ODD], 1, "0 found"),
    "sessions": (["--project", ODD], 0, "no matching sessions"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_word_that_is_no_utf8_is_found_nowhere(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments, code, words = CASES[name]
    run = command(name, make_home(tmp_path / "home"), tmp_path / "cache", monkeypatch)

    done = run(*arguments)

    assert done[0] == code
    assert words in done[2]


def test_a_home_whose_name_is_no_utf8_is_a_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = make_home(tmp_path / f"home-{ODD}")
    for name, arguments, words in (
        ("sessions", [], "fix the rate limit"),
        ("usage", [], "total"),
        ("search", ["limits"], "1 failed: limits"),
        ("show", ["--last"], "Hello!"),
    ):
        code, out, _ = command(name, home, tmp_path / "cache", monkeypatch)(*arguments)

        assert (code, words in out) == (0, True), name
