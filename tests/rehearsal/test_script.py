from __future__ import annotations

from dragoman.rehearsal.script import Patch, Run, Say, Step, Think, Together, Turn, responses


def test_a_turn_is_cut_after_each_call() -> None:
    think, run, patch, say = Think("hm"), Run("ls"), Patch("*** Begin Patch"), Say("done")

    assert responses(Turn((think, run, patch, say))) == ((think, run), (patch,), (say,))


def test_steps_together_are_one_response() -> None:
    both: tuple[Step, ...] = (Run("ls"), Run("pwd"))
    steps: tuple[Step, ...] = (Think("hm"), Together(both), Say("done"))

    assert responses(Turn(steps)) == ((Think("hm"),), both, (Say("done"),))


def test_a_turn_without_steps_is_one_empty_response() -> None:
    assert responses(Turn(())) == ((),)


def test_a_text_can_be_made_long() -> None:
    assert Say("ab", bytes=5).whole == "ababa"
    assert len(Say("", bytes=1000).whole) == 1000
    assert Say("ab").whole == "ab"


def test_thoughts_have_parts() -> None:
    assert Think("one").parts == ("one",)
    assert Think(("one", "two")).parts == ("one", "two")
