from __future__ import annotations

import os
from pathlib import Path

import pytest

from dragoman.archive.exporting import (
    SavedConversion,
    check_target,
    format_for,
    is_file,
    masked_summary,
)
from dragoman.errors import UsageError
from dragoman.export.base import Masked
from dragoman.model.messages import Prompt, Text


def test_a_session_is_named_by_a_file_or_by_its_id(tmp_path: Path) -> None:
    (tmp_path / "capture").touch()

    assert is_file("-")
    assert is_file("gone.jsonl")
    assert is_file(str(tmp_path / "capture"))
    assert not is_file("01a1e27b-ef5d-7c53-98ae-24eb96457561")


@pytest.mark.parametrize(
    ("name", "to"),
    [
        ("a.html", "html"),
        ("a.HTM", "html"),
        ("a.md", "markdown"),
        ("a.json", "json"),
        ("a.txt", "text"),
    ],
)
def test_the_ending_of_a_file_is_its_format(name: str, to: str) -> None:
    assert format_for(name) == to


def test_an_ending_that_says_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="use --to to name one"):
        format_for("session")


def test_nothing_is_overwritten_unasked_and_the_session_itself_never(tmp_path: Path) -> None:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.html"
    source.touch()
    check_target(str(source), str(target), force=False)
    target.touch()

    with pytest.raises(UsageError, match="--force"):
        check_target(str(source), str(target), force=False)
    check_target(str(source), str(target), force=True)
    with pytest.raises(UsageError, match="is the input file"):
        check_target(str(source), str(source), force=True)
    with pytest.raises(UsageError, match="directory"):
        check_target(str(source), str(tmp_path), force=True)


def test_a_file_that_comes_through_standard_input_is_never_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "in.jsonl"
    source.touch()
    with source.open(encoding="utf-8") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        with pytest.raises(UsageError, match="is the input file"):
            check_target("-", str(source), force=True)
        check_target("-", str(tmp_path / "out.jsonl"), force=False)
    with open(os.devnull, encoding="utf-8") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        check_target("-", os.devnull, force=False)
    monkeypatch.setattr("sys.stdin", None)
    check_target("-", str(source), force=True)


def test_messages_of_a_saved_session_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "out.md"
    conversion = SavedConversion(
        (each for each in [Prompt(text="hi ada@lovelace.org"), Text(text="ho")]),
        to="markdown",
        redact=True,
    )

    conversion.to_file(str(target))

    assert target.read_text(encoding="utf-8") == "## Turn 1\n\n> hi [email-1]\n\nho\n"
    assert conversion.masked is not None
    assert masked_summary(conversion.masked).startswith("masked e-mail address: 1;")


def test_nothing_masked_is_said_as_well() -> None:
    assert masked_summary([]).startswith("found no secrets to mask")
    assert "x: 2" in masked_summary([Masked(placeholder="[x]", kind="x", count=2)])
