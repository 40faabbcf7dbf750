from __future__ import annotations

import pytest

from dragoman.rehearsal.pieces import pieces


@pytest.mark.parametrize("text", ["", "one", " two  spaces\n", "x" * 100_000, "ü " * 20_000])
def test_pieces_make_the_whole(text: str) -> None:
    assert "".join(pieces(text)) == text
