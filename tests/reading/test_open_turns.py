from __future__ import annotations

import pytest

from dragoman.reading.mapper import Mapper
from support.archive.saved_sessions import Rows


@pytest.mark.parametrize("to", ["text", "markdown", "html"])
def test_people_are_told_that_a_turn_was_left_open(to: str) -> None:
    def said(rows: Rows) -> str:
        mapper = Mapper(to=to)
        return "".join([*mapper.push(rows.data), *mapper.flush()])

    left = said(Rows(1).begin("go").run("ls", "x"))
    assert "this turn is open, last activity" in left
    assert "2026-11-15 10:00 UTC" in left
    assert "■" not in left
    assert "is open" not in said(Rows(1).turn("go", "done"))


def test_programs_are_told_nothing_of_the_kind() -> None:
    mapper = Mapper(to="messages")
    lines = [*mapper.push(Rows(1).begin("go").data), *mapper.flush()]

    assert not any("is open" in line or "turn_ended" in line for line in lines)
