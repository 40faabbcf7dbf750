from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from dragoman.harnesses.assembly.duplicates import Deduplicator


@st.composite
def reports(draw: st.DrawFn) -> tuple[list[str], list[tuple[str, str]]]:
    """Some contents, and the order in which several channels report all of them."""
    things = draw(st.lists(st.sampled_from("abc"), max_size=7))
    channels = [
        [(name, what) for what in draw(st.permutations(things))]
        for name in ("one", "two", "three")[: draw(st.integers(1, 3))]
    ]
    turns = draw(st.permutations([n for n, told in enumerate(channels) for _ in told]))
    return things, [channels[n].pop(0) for n in turns]


@given(reports())
def test_each_thing_is_new_as_often_as_it_was_said(
    case: tuple[list[str], list[tuple[str, str]]],
) -> None:
    things, told = case
    seen = Deduplicator()

    new = Counter(what for channel, what in told if seen.is_new(channel, what))

    assert new == Counter(things)


@given(reports())
def test_where_channels_echo_themselves_each_thing_is_new_once(
    case: tuple[list[str], list[tuple[str, str]]],
) -> None:
    things, told = case
    seen = Deduplicator()
    seen.echoes = True

    new = [what for channel, what in told if seen.is_new(channel, what)]

    assert sorted(new) == sorted(set(things))


def test_an_agent_may_say_the_same_thing_twice_and_mean_it() -> None:
    seen = Deduplicator()

    assert [seen.is_new("event", "ok"), seen.is_new("event", "ok")] == [True, True]
    assert [seen.is_new("row", "ok"), seen.is_new("row", "ok")] == [False, False]
    assert seen.is_new("row", "ok")


def test_asking_whether_a_thing_is_known_does_not_count_as_hearing_it() -> None:
    seen = Deduplicator()
    seen.is_new("event", "ok")

    assert seen.knows("row", "ok", None)
    assert seen.knows("row", "ok", None)
    assert not seen.is_new("row", "ok")
    assert not seen.knows("row", "ok", None)
    assert not seen.knows("event", "ok", None)
    assert not seen.knows("row", "other", None)


def test_a_known_id_is_known_whatever_is_said_under_it() -> None:
    seen = Deduplicator()

    assert not seen.has_id("msg_1")
    assert seen.is_new_id("msg_1")
    assert seen.has_id("msg_1")
    assert not seen.is_new_id("msg_1")
    assert seen.knows("row", "anything", "msg_1")
    assert not seen.knows("row", "anything", "msg_2")


def test_a_new_turn_may_say_it_all_again() -> None:
    seen = Deduplicator()
    seen.echoes = True
    seen.is_new("event", "ok")
    seen.is_new_id("msg_1")

    seen.clear()

    assert not seen.echoes
    assert seen.is_new_id("msg_1")
    assert [seen.is_new("event", "ok"), seen.is_new("event", "ok")] == [True, True]


def test_words_without_a_name_and_names_without_words_are_forgotten_too() -> None:
    words, names = Deduplicator(), Deduplicator()
    words.is_new("event", "ok")
    names.is_new_id("msg_1")

    words.clear()
    names.clear()

    assert words.is_new("row", "ok")
    assert names.is_new_id("msg_1")


def test_another_text_under_a_known_id_is_new() -> None:
    seen = Deduplicator()

    assert not seen.repeats("item", "one", "msg_1")
    assert not seen.repeats("item", "two", "msg_1")
    assert seen.repeats("row", "one", "msg_1")
    assert seen.repeats("row", "two", None)


def test_a_thought_split_differently_was_emitted_in_parts() -> None:
    seen = Deduplicator()
    seen.is_new("item", "**Look**")
    seen.is_new("item", "**Patch**")

    assert seen.was_emitted_in_parts("**Patch**")
    assert seen.was_emitted_in_parts("**Look**\n**Patch**")
    assert not seen.was_emitted_in_parts("**Run**")
