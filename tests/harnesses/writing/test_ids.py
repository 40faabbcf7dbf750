from __future__ import annotations

from dragoman.harnesses.writing.ids import CallIds


def test_an_id_is_kept_if_it_fits_and_is_new() -> None:
    ids = CallIds()

    assert ids.take("toolu_01-A") == "toolu_01-A"
    assert ids.take("toolu_01-A") == "call_handoff_2"
    assert ids.take("") == "call_handoff_3"
    assert ids.take("a/b") == "call_handoff_4"
    assert ids.take("é") == "call_handoff_5"
    assert ids.take("x" * 65) == "call_handoff_6"


def test_a_made_up_id_is_never_one_that_is_taken() -> None:
    ids = CallIds()
    taken = [ids.take("call_handoff_2"), ids.take("a b"), ids.take("call_handoff_2")]

    assert len(set(taken)) == 3
