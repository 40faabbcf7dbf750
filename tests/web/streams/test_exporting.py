from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dragoman.hub.hub import Entry
from dragoman.model.messages import Message, Text, TurnEnded, TurnStarted, encode
from dragoman.web.streams.exporting import ExportedEvents, caught_up, newest_turn
from support.page.fake_hub import AT, FakeHub
from support.terminal.chat_story import first_turn


def entry(message: Message, seq: int = 1) -> Entry:
    return Entry("s1", seq, AT, encode(message), message)


def test_the_last_line_of_an_entry_has_its_place() -> None:
    events = ExportedEvents("ai-sdk", "s1")

    data = events.encode([entry(Text(text="hi"), 7), None])

    assert data.count(b"id: 7\n") == 1
    assert data.endswith(b'id: 7\ndata: {"type":"text-end","id":"text-1"}\n\n:\n\n')


def test_a_chat_is_over_with_its_own_turn_and_not_with_a_helpers() -> None:
    events = ExportedEvents("ag-ui", "s1", "native-s1")
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


@pytest.mark.parametrize("to", ["ai-sdk", "ag-ui"])
def test_a_chat_goes_on_behind_any_entry_as_if_it_had_never_been_cut_off(
    tmp_path: Path, to: str
) -> None:
    hub = FakeHub(tmp_path)
    hub.add("s1")
    story = [
        *first_turn(),
        TurnStarted(session_id="native-s1"),
        Text(session_id="native-s1", text="again"),
    ]
    hub.tell("s1", *story)
    session, entries = hub.get("s1"), hub.entries("s1")
    turns = [entries[:-2], entries[-2:]]

    for turn in turns:
        whole = ExportedEvents(to, "s1", "native-s1").encode(turn)
        for cut in range(1, len(turn)):
            before = ExportedEvents(to, "s1", "native-s1").encode(turn[:cut])
            rest = caught_up(hub, session, to, turn[cut - 1].seq).encode(turn[cut:])
            assert before + rest == whole
    after_the_end = caught_up(hub, session, to, turns[0][-1].seq)
    assert after_the_end.encode(turns[1]) == ExportedEvents(to, "s1", "native-s1").encode(turns[1])
