from __future__ import annotations

from pathlib import Path
from typing import Any

from chat_story import first_turn
from dragoman.crew.hub import Entry
from dragoman.model.messages import Message, Text, TurnEnded, TurnStarted, encode
from dragoman.web.exporting import ExportedEvents, newest_turn
from fake_hub import AT, FakeHub


def entry(message: Message, seq: int = 1) -> Entry:
    return Entry("s1", seq, AT, encode(message), message)


def test_the_last_line_of_an_entry_has_its_place() -> None:
    events = ExportedEvents("ai-sdk", "s1")

    data = events.encode([entry(Text(text="hi"), 7), None])

    assert data.count(b"id: 7\n") == 1
    assert data.endswith(b'id: 7\ndata: {"type":"text-end","id":"text-1"}\n\n:\n\n')


def test_a_chat_is_over_with_its_own_turn_and_not_with_a_helpers() -> None:
    events = ExportedEvents("ag-ui", "s1")
    for number, message in enumerate(first_turn(), 1):
        assert not events.is_over
        events.encode([entry(message, number)])

    assert events.is_over
    assert events.encode([entry(Text(text="later"))]) == b""
    assert events.finish() == b""


def test_a_stream_that_ends_early_is_closed_properly() -> None:
    events = ExportedEvents("ai-sdk", "s1")
    events.encode([entry(TurnStarted())])

    end = events.finish()

    assert b'"type":"finish"' in end
    assert end.endswith(b"data: [DONE]\n\n")


def test_where_the_newest_turn_began(tmp_path: Path) -> None:
    hub = FakeHub(tmp_path)
    hub.add("s1")
    assert newest_turn(hub, hub.get("s1")) == 0
    of: dict[str, Any] = {"session_id": "native-s1"}
    hub.tell("s1", TurnStarted(**of), TurnEnded(**of, outcome="completed"), TurnStarted(**of))
    hub.tell("s1", *(Text(text="x") for _ in range(450)), TurnStarted(session_id="helper"))

    assert newest_turn(hub, hub.get("s1")) == 2
