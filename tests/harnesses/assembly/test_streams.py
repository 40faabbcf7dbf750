from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.harnesses.assembly.streams import DeltaStreams, Snapshots


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


@given(streams())
def test_pieces_over_several_channels_make_the_text_once(
    case: tuple[str, list[tuple[str, str]]],
) -> None:
    text, told = case
    streaming = DeltaStreams()

    fresh = [streaming.fresh(channel, "msg_1", piece) for channel, piece in told]

    assert "".join(fresh) == text


def test_a_channel_that_runs_ahead_tells_only_the_end_of_its_piece() -> None:
    streaming = DeltaStreams()

    assert streaming.fresh("one", "msg_1", "he") == "he"
    assert streaming.fresh("two", "msg_1", "hello") == "llo"
    assert streaming.fresh("one", "msg_1", "llo") == ""
    assert streaming.fresh("one", "msg_1", "!") == "!"


def test_things_streamed_side_by_side_do_not_mix() -> None:
    streaming = DeltaStreams()

    assert streaming.fresh("one", "msg_1", "a") == "a"
    assert streaming.fresh("one", "msg_2", "b") == "b"
    assert streaming.fresh("two", "msg_2", "b") == ""
    assert streaming.fresh("two", "msg_1", "a") == ""


@pytest.mark.parametrize("key", ["msg_1", "other"])
def test_what_was_said_whole_is_forgotten_and_nothing_else(key: str) -> None:
    streaming = DeltaStreams()
    streaming.fresh("one", "msg_1", "hello")

    streaming.forget(key)

    assert streaming.fresh("two", "msg_1", "hello") == ("hello" if key == "msg_1" else "")
    assert streaming.fresh("one", "msg_1", "hello") == ("" if key == "msg_1" else "hello")


def test_all_streams_end_with_the_turn() -> None:
    streaming = DeltaStreams()
    streaming.fresh("one", "a", "x")
    streaming.fresh("one", "b", "y")

    streaming.clear()

    assert streaming.fresh("one", "a", "x") == "x"
    assert streaming.fresh("two", "a", "xy") == "y"
    assert streaming.fresh("two", "b", "y") == "y"


def test_a_piece_without_an_id_belongs_to_the_message_of_its_kind_named_last() -> None:
    streaming = DeltaStreams()

    assert streaming.message_of("text", None) is None
    assert streaming.message_of("text", "msg_1") == "msg_1"
    assert streaming.message_of("text", None) == "msg_1"
    assert streaming.message_of("thinking", None) is None


def test_once_a_message_is_complete_the_next_one_streams_from_its_start() -> None:
    streaming = DeltaStreams()
    streaming.message_of("text", "msg_1")
    streaming.fresh("event", "msg_1", "ok")

    streaming.complete("text", "msg_1")

    assert streaming.message_of("text", None) is None
    assert streaming.fresh("item", "msg_1", "ok") == "ok"


def test_a_snapshot_gives_back_the_state_before_it() -> None:
    snapshots = Snapshots()

    assert snapshots.update("a", "text", "he") == ""
    assert snapshots.update("a", "text", "hello") == "he"
    assert snapshots.take() == {"a": ("text", "hello")}
    assert snapshots.take() == {}


def test_a_complete_message_is_not_left_over() -> None:
    snapshots = Snapshots()
    snapshots.update("a", "text", "hello")
    snapshots.update("b", "thinking", "hm")

    snapshots.complete("a")
    snapshots.complete(None)
    snapshots.complete("never seen")

    assert snapshots.take() == {"b": ("thinking", "hm")}
