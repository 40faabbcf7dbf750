from __future__ import annotations

import pytest

from dragoman.reading.ages import ago


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s ago"), (59, "59 s ago"), (60, "1 min ago"), (3 * 3600, "3 h ago"), (5e5, "5 d ago")],
)
def test_how_long_ago(seconds: float, words: str) -> None:
    assert ago(seconds) == words
