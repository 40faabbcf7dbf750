from __future__ import annotations

import pytest

from dragoman.cli.main import main
from dragoman.reading.conversion import all_dialects, all_formats, all_limits


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert main(["dialects", *arguments]) == 0
    written = capsys.readouterr()
    assert written.err == ""
    return written.out.splitlines()


def test_every_dialect_and_every_format_is_listed_with_a_word_about_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = shown(capsys)

    dialects, formats = (
        rows.index("Dialects (convert --from)"),
        rows.index("Formats (convert --to)"),
    )
    for row, dialect in zip(rows[dialects + 2 :], all_dialects(), strict=False):
        assert row.split()[0] == dialect.name
        assert dialect.releases in row
        assert row.endswith(dialect.summary)
    for row, each in zip(rows[formats + 2 :], all_formats(), strict=True):
        assert row.split()[0] == each.name
        assert row.endswith(each.summary)


def test_the_columns_stand_one_below_the_other(capsys: pytest.CaptureFixture[str]) -> None:
    rows = list(shown(capsys))

    places = {
        next(row.index(each.summary) for row in rows if each.summary in row)
        for each in all_dialects()
    }
    assert len(places) == 1


def test_what_a_dialect_cannot_carry_is_listed_when_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "What a dialect cannot represent" not in shown(capsys)

    rows = shown(capsys, "--limits")

    listed = rows[rows.index("What a dialect cannot represent") + 2 :]
    assert len(listed) == len(all_limits()) > 20
    for row, limit in zip(listed, all_limits(), strict=True):
        assert row.split()[0] == limit.dialect
        assert limit.what in row
        assert limit.releases in row
        assert row.endswith(limit.why)
