from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dragoman.export.text.streams import TextStreams
from dragoman.model.messages import Delta, Text


def delta(text: str, message_id: str | None = "m1") -> Delta:
    return Delta(of="text", message_id=message_id, text=text)


def whole(text: str, message_id: str | None = "m1") -> Text:
    return Text(text=text, message_id=message_id)


def test_lines_are_given_out_when_they_are_whole() -> None:
    streams = TextStreams()

    given_out = [streams.add(delta(piece)) for piece in ("Let me thi", "nk.\n\nFir", "st", "\n")]

    assert given_out == ["", "Let me think.\n\n", "", "First\n"]


@given(st.lists(st.text("ab\n")), st.text("ab\n"))
def test_everything_is_given_out_once(pieces: list[str], rest: str) -> None:
    streams = TextStreams()

    shown = "".join(streams.add(delta(piece)) for piece in pieces)
    completed = streams.complete(whole("".join(pieces) + rest))

    if pieces:
        assert completed is not None
        shown += completed[1]
    else:
        assert completed is None
        shown += rest
    assert shown == "".join(pieces) + rest


def test_a_text_is_known_by_what_it_says_when_ids_differ() -> None:
    streams = TextStreams()
    streams.add(delta("one\ntw", None))
    streams.add(delta("th", "m3"))

    assert streams.complete(whole("three", None)) == ("m3", "three")
    assert streams.complete(whole("one\ntwo", "m2")) == (None, "two")


def test_a_text_that_was_not_streamed_has_nothing_left() -> None:
    streams = TextStreams()
    assert streams.complete(whole("one")) is None

    streams.add(delta("other\n"))
    assert streams.complete(whole("one")) is None
    assert streams.end() == []


def test_a_text_that_lost_its_ends_is_the_same() -> None:
    streams = TextStreams()
    streams.add(delta("\none\n"))
    streams.add(delta("two\n\n"))

    assert streams.complete(whole("one\ntwo")) == ("m1", "")


def test_texts_that_will_not_be_completed_give_out_what_is_left() -> None:
    streams = TextStreams()
    streams.add(delta("one\ntw"))
    streams.add(delta("on", None))

    assert streams.end() == [("m1", "tw"), (None, "on")]
    assert streams.end() == []
