from __future__ import annotations

from dragoman.export.base import Options


def test_nothing_extra_is_included_and_no_source_line_is_at_hand_unless_told() -> None:
    options = Options()

    assert (options.include, options.color) == (frozenset(), False)
    assert options.source_line(1) is None
