from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.harnesses.assembly.duplicates import Once, Streams


@st.composite
def tellings(draw: st.DrawFn) -> tuple[list[str], list[tuple[str, str]]]:
    """Some things, and the order in which several channels tell all of them."""
    things = draw(st.lists(st.sampled_from("abc"), max_size=7))
    channels = [
        [(name, what) for what in draw(st.permutations(things))]
        for name in ("one", "two", "three")[: draw(st.integers(1, 3))]
    ]
    turns = draw(st.permutations([n for n, told in enumerate(channels) for _ in told]))
    return things, [channels[n].pop(0) for n in turns]


@st.composite
def streams(draw: st.DrawFn) -> tuple[str, list[tuple[str, str]]]:
    """A text, and the order in which several channels tell it in pieces of their own."""
    text = draw(st.text(alphabet="ab\n🚀", max_size=12))
    channels: list[list[tuple[str, str]]] = []
    for name in ("one", "two", "three")[: draw(st.integers(1, 3))]:
        cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=5)))
        edges = [0, *cuts, len(text)]
        pieces = [text[a:b] for a, b in pairwise(edges)]
        channels.append([(name, piece) for piece in pieces])
    turns = draw(st.permutations([n for n, told in enumerate(channels) for _ in told]))
    return text, [channels[n].pop(0) for n in turns]


@given(tellings())
def test_each_thing_is_new_as_often_as_it_was_said(
    case: tuple[list[str], list[tuple[str, str]]],
) -> None:
    things, told = case
    once = Once()

    new = Counter(what for channel, what in told if once.is_new(channel, what))

    assert new == Counter(things)


@given(tellings())
def test_where_channels_echo_themselves_each_thing_is_new_once(
    case: tuple[list[str], list[tuple[str, str]]],
) -> None:
    things, told = case
    once = Once()
    once.echoes = True

    new = [what for channel, what in told if once.is_new(channel, what)]

    assert sorted(new) == sorted(set(things))


def test_an_agent_may_say_the_same_thing_twice_and_mean_it() -> None:
    once = Once()

    assert [once.is_new("event", "ok"), once.is_new("event", "ok")] == [True, True]
    assert [once.is_new("row", "ok"), once.is_new("row", "ok")] == [False, False]
    assert once.is_new("row", "ok")


def test_asking_whether_a_thing_is_known_does_not_count_as_hearing_it() -> None:
    once = Once()
    once.is_new("event", "ok")

    assert once.knows("row", "ok", None)
    assert once.knows("row", "ok", None)
    assert not once.is_new("row", "ok")
    assert not once.knows("row", "ok", None)
    assert not once.knows("event", "ok", None)
    assert not once.knows("row", "other", None)


def test_a_known_id_is_known_whatever_is_said_under_it() -> None:
    once = Once()

    assert not once.has_id("msg_1")
    assert once.is_new_id("msg_1")
    assert once.has_id("msg_1")
    assert not once.is_new_id("msg_1")
    assert once.knows("row", "anything", "msg_1")
    assert not once.knows("row", "anything", "msg_2")


def test_a_new_turn_may_say_it_all_again() -> None:
    once = Once()
    once.echoes = True
    once.is_new("event", "ok")
    once.is_new_id("msg_1")

    once.clear()

    assert not once.echoes
    assert once.is_new_id("msg_1")
    assert [once.is_new("event", "ok"), once.is_new("event", "ok")] == [True, True]


def test_words_without_a_name_and_names_without_words_are_forgotten_too() -> None:
    words, names = Once(), Once()
    words.is_new("event", "ok")
    names.is_new_id("msg_1")

    words.clear()
    names.clear()

    assert words.is_new("row", "ok")
    assert names.is_new_id("msg_1")


@given(streams())
def test_pieces_over_several_channels_make_the_text_once(
    case: tuple[str, list[tuple[str, str]]],
) -> None:
    text, told = case
    streaming = Streams()

    fresh = [streaming.fresh(channel, "msg_1", piece) for channel, piece in told]

    assert "".join(fresh) == text


def test_a_channel_that_runs_ahead_tells_only_the_end_of_its_piece() -> None:
    streaming = Streams()

    assert streaming.fresh("one", "msg_1", "he") == "he"
    assert streaming.fresh("two", "msg_1", "hello") == "llo"
    assert streaming.fresh("one", "msg_1", "llo") == ""
    assert streaming.fresh("one", "msg_1", "!") == "!"


def test_things_streamed_side_by_side_do_not_mix() -> None:
    streaming = Streams()

    assert streaming.fresh("one", "msg_1", "a") == "a"
    assert streaming.fresh("one", "msg_2", "b") == "b"
    assert streaming.fresh("two", "msg_2", "b") == ""
    assert streaming.fresh("two", "msg_1", "a") == ""


@pytest.mark.parametrize("key", ["msg_1", "other"])
def test_what_was_said_whole_is_forgotten_and_nothing_else(key: str) -> None:
    streaming = Streams()
    streaming.fresh("one", "msg_1", "hello")

    streaming.forget(key)

    assert streaming.fresh("two", "msg_1", "hello") == ("hello" if key == "msg_1" else "")
    assert streaming.fresh("one", "msg_1", "hello") == ("" if key == "msg_1" else "hello")


def test_all_streams_end_with_the_turn() -> None:
    streaming = Streams()
    streaming.fresh("one", "a", "x")
    streaming.fresh("one", "b", "y")

    streaming.clear()

    assert streaming.fresh("one", "a", "x") == "x"
    assert streaming.fresh("two", "a", "xy") == "y"
    assert streaming.fresh("two", "b", "y") == "y"
