from __future__ import annotations

from dragoman.export.spoken import Completed, Piece, Spoken


def test_a_part_begins_once_and_ends_with_what_was_left() -> None:
    spoken = Spoken("text")

    assert spoken.add("m", "Hel") == Piece("m-1", begins=True, text="Hel")
    assert spoken.add("m", "lo") == Piece("m-1", begins=False, text="lo")
    assert spoken.complete("m", "Hello!") == Completed(Piece("m-1", False, "!"), ends=True)
    assert spoken.end() == []


def test_what_was_not_streamed_is_a_part_of_its_own() -> None:
    spoken = Spoken("text")

    assert spoken.complete(None, "Hello") == Completed(Piece("text-1", True, "Hello"), ends=True)


def test_a_part_is_found_by_what_it_says_when_the_ids_differ() -> None:
    spoken = Spoken("text")
    spoken.add(None, "Hello")

    assert spoken.complete("m9", "Hello").piece == Piece("text-1", begins=False, text="")


def test_white_space_at_the_ends_is_no_difference() -> None:
    spoken = Spoken("text")
    spoken.add("m", "Hello\n")

    assert spoken.complete("m", "Hello") == Completed(Piece("m-1", False, ""), ends=True)


def test_pieces_that_were_dropped_end_the_part_and_the_whole_is_said_anew() -> None:
    spoken = Spoken("text")
    spoken.add("m", "lo")

    completed = spoken.complete("m", "Hello")

    assert completed == Completed(Piece("m-2", True, "Hello"), ends=True, lost="m-1")
    assert spoken.end() == []


def test_two_wholes_can_be_in_one_part() -> None:
    spoken = Spoken("reasoning")
    spoken.add("r", "First.")
    spoken.add("r", "Second.")

    assert spoken.complete(None, "First.") == Completed(Piece("r-1", False, ""), ends=False)
    assert spoken.complete(None, "Second.") == Completed(Piece("r-1", False, ""), ends=True)


def test_what_is_never_completed_is_ended() -> None:
    spoken = Spoken("text")
    spoken.add("a", "x")
    spoken.add("b", "y")

    assert spoken.end() == ["a-1", "b-2"]
    assert spoken.end() == []
