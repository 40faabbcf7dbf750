from __future__ import annotations

from dragoman.harnesses.contract.capabilities import ACCESS_LEVELS, resolve_access
from dragoman.harnesses.gemini import GEMINI


def test_each_level_has_a_mode_and_the_usual_one_asks() -> None:
    offered = GEMINI.capabilities(None)

    assert resolve_access(offered, None).value == "default"
    assert [resolve_access(offered, level).level for level in ACCESS_LEVELS] == list(ACCESS_LEVELS)


def test_the_release_is_what_the_program_prints() -> None:
    assert GEMINI.program is not None
    assert GEMINI.program.parse_release("0.61.0\n") == (0, 61, 0)
    assert GEMINI.program.parse_release("no number") is None
    assert GEMINI.program.speaks(None)
