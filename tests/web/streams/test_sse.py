from __future__ import annotations

from dragoman.web.streams import sse


def test_an_event_with_all_there_is() -> None:
    assert sse.frame(b"{}", event="entry", event_id=7) == b"id: 7\nevent: entry\ndata: {}\n\n"
    assert sse.frame(b"{}") == b"data: {}\n\n"


def test_every_line_end_that_a_browser_knows_begins_a_new_line_of_data() -> None:
    assert sse.text_frame(b"a\nb\r\nc\rd\n", event_id=1) == (
        b"id: 1\ndata: a\ndata: b\ndata: c\ndata: d\n\n"
    )
    assert sse.text_frame(b"\n\n") == b"data: \ndata: \n\n"


def test_how_long_to_wait() -> None:
    assert sse.retry(250) == b"retry: 250\n\n"
