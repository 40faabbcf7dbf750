from __future__ import annotations

from dragoman.harnesses import HARNESSES


def test_every_harness_that_keeps_sessions_says_where() -> None:
    for harness in HARNESSES:
        if harness.history is not None:
            assert harness.history.places
            assert all(suffix.startswith(".") for suffix in harness.history.suffixes)
            assert not harness.history.home_default.startswith("/")
