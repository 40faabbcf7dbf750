from __future__ import annotations

from typing import Literal, TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from dragoman.harnesses.assembly.calls import SessionCalls

Word: TypeAlias = tuple[Literal["opens", "closes"], int]
words = st.lists(st.tuples(st.sampled_from(("opens", "closes")), st.integers(0, 4)), max_size=25)


def test_only_the_first_word_of_a_call_opens_it() -> None:
    calls = SessionCalls()

    assert calls.opens("a")
    assert not calls.opens("a")
    assert calls.is_known("a")
    assert calls.is_open("a")
    assert not calls.is_closed("a")


def test_only_the_first_end_of_a_call_closes_it() -> None:
    calls = SessionCalls()
    calls.opens("a")

    assert calls.closes("a")
    assert not calls.closes("a")
    assert calls.is_closed("a")
    assert not calls.is_open("a")


def test_a_call_that_nobody_mentioned_is_neither_open_nor_closed() -> None:
    calls = SessionCalls()

    assert not calls.is_known("a")
    assert not calls.is_open("a")
    assert not calls.is_closed("a")
    assert not calls.any_open()


def test_an_end_without_a_beginning_is_told_and_the_beginning_does_not_come_after_it() -> None:
    calls = SessionCalls()

    assert calls.closes("a")
    assert not calls.closes("a")
    assert not calls.opens("a")
    assert calls.abandon_open() == []


def test_what_is_left_open_is_given_up_once_and_in_order() -> None:
    calls = SessionCalls()
    for call_id in "abc":
        calls.opens(call_id)
    calls.closes("b")

    assert calls.any_open()
    assert calls.abandon_open() == [("a", ""), ("c", "")]
    assert not calls.any_open()
    assert calls.abandon_open() == []


def test_a_call_that_was_given_up_may_still_end_once_however_late() -> None:
    calls = SessionCalls()
    calls.opens("slow")
    calls.abandon_open()
    calls.abandon_open()
    calls.abandon_open()

    assert not calls.is_closed("slow")
    assert calls.closes("slow")
    assert not calls.closes("slow")


def test_the_next_turn_still_knows_the_calls_of_the_turn_before() -> None:
    calls = SessionCalls()
    calls.opens("done")
    calls.closes("done")
    calls.opens("left")
    calls.abandon_open()

    assert not calls.opens("done")
    assert not calls.opens("left")
    assert not calls.closes("done")
    assert calls.is_closed("done")


def test_calls_that_ended_two_turns_ago_are_forgotten_so_that_a_long_session_stays_small() -> None:
    calls = SessionCalls()
    calls.opens("done")
    calls.closes("done")
    calls.abandon_open()
    calls.abandon_open()

    assert not calls.is_known("done")
    assert calls.opens("done")


@given(st.lists(words, max_size=4))
def test_every_call_ends_exactly_once(turns: list[list[Word]]) -> None:
    calls = SessionCalls()

    for number, turn in enumerate(turns):
        opened: list[str] = []
        ended: list[str] = []
        for word, name in turn:
            call_id = f"{number}.{name}"
            if word == "opens" and calls.opens(call_id):
                opened.append(call_id)
            elif word == "closes" and calls.closes(call_id):
                ended.append(call_id)
        given_up = [call_id for call_id, _ in calls.abandon_open()]

        assert len(set(opened)) == len(opened)
        assert len(set(ended)) == len(ended)
        assert given_up == [call_id for call_id in opened if call_id not in ended]


@given(words, words)
def test_in_the_next_turn_only_calls_that_were_given_up_may_end_again(
    turn: list[Word], late: list[Word]
) -> None:
    calls = SessionCalls()
    opened: set[str] = set()
    for word, name in turn:
        if word == "opens" and calls.opens(str(name)):
            opened.add(str(name))
        elif word == "closes" and str(name) in opened:
            calls.closes(str(name))
    given_up = [call_id for call_id, _ in calls.abandon_open()]

    ended = [str(name) for _, name in late if str(name) in opened and calls.closes(str(name))]

    assert len(set(ended)) == len(ended)
    assert set(ended) <= set(given_up)


def test_an_end_without_a_beginning_is_remembered_as_long_as_any_other() -> None:
    calls = SessionCalls()
    calls.closes("a")
    calls.abandon_open()

    assert not calls.closes("a")


def test_an_open_call_keeps_its_input_its_native_form_and_its_output() -> None:
    calls = SessionCalls()
    calls.opens("a", {"command": "make"})
    calls.keep_native("a", argv=["make"])
    calls.add_output("a", "one ")
    calls.add_output("a", "two")

    assert calls.input_of("a") == {"command": "make"}
    assert calls.native_of("a") == {"argv": ["make"]}
    assert calls.output_of("a") == "one two"
    assert calls.release("a") == "one two"
    assert (calls.input_of("a"), calls.native_of("a"), calls.output_of("a")) == ({}, {}, "")


def test_output_of_a_call_that_is_not_open_is_not_kept() -> None:
    calls = SessionCalls()
    calls.add_output("never", "x")
    calls.opens("done")
    calls.closes("done")
    calls.add_output("done", "x")

    assert calls.output_of("never") == calls.output_of("done") == ""


def test_an_abandoned_call_hands_over_what_it_streamed_and_is_released() -> None:
    calls = SessionCalls()
    calls.opens("a", {"command": "make"})
    calls.add_output("a", "half")

    assert calls.abandon_open() == [("a", "half")]
    assert calls.input_of("a") == {}
    assert calls.output_of("a") == ""


def test_another_book_continues_with_the_calls_of_the_previous_turn() -> None:
    first, second = SessionCalls(), SessionCalls()
    first.opens("done")
    first.closes("done")
    first.opens("left")
    first.abandon_open()

    second.restore(first.earlier())

    assert not second.closes("done")
    assert second.closes("left")
