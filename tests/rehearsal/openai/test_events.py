from __future__ import annotations

from typing import Any

import msgspec
import pytest

from dragoman.rehearsal.openai.events import ResponseStream
from dragoman.rehearsal.openai.items import item_of, message
from dragoman.rehearsal.script import Think, Tokens


def _decoded(*events: bytes) -> list[dict[str, Any]]:
    read: list[dict[str, Any]] = []
    for event in events:
        name, data = event.decode().removesuffix("\n\n").split("\n")
        fields = msgspec.json.decode(data.removeprefix("data: "))
        assert name == f"event: {fields['type']}"
        read.append(fields)
    return read


def test_a_message_is_announced_comes_in_words_and_is_given_whole() -> None:
    stream = ResponseStream("resp_1", "gpt")

    events = _decoded(stream.begin(), *stream.item(message("one two", "msg_1")))

    assert [event["type"].removeprefix("response.") for event in events] == [
        "created",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "output_item.done",
    ]
    assert [event["sequence_number"] for event in events] == list(range(7))
    assert events[1]["item"]["content"] == []
    assert events[1]["item"]["status"] == "in_progress"
    assert [event["delta"] for event in events[3:5]] == ["one", " two"]
    assert events[6]["item"] == message("one two", "msg_1")


def test_reasoning_comes_in_parts() -> None:
    stream = ResponseStream("resp_1", "gpt")
    item = item_of(Think(("a b", "c"), "raw"), 1)
    assert item is not None

    events = _decoded(*stream.item(item))

    words = [(event["type"].split(".")[1], event["delta"]) for event in events if "delta" in event]
    assert words == [
        ("reasoning_summary_text", "a"),
        ("reasoning_summary_text", " b"),
        ("reasoning_summary_text", "c"),
        ("reasoning_text", "raw"),
    ]


@pytest.mark.parametrize(
    ("item", "announced"),
    [
        ({"type": "custom_tool_call", "id": "c", "call_id": "c", "input": "x y"}, {"input": ""}),
        ({"type": "web_search_call", "id": "w", "status": "completed", "action": {}}, {}),
        ({"type": "local_shell_call", "id": "l", "action": {"type": "exec"}}, {"action"}),
        ({"type": "image_generation_call", "id": "i", "result": "AAAA"}, {"result": ""}),
    ],
)
def test_other_items_are_announced_without_what_is_still_to_come(item: Any, announced: Any) -> None:
    first, *_, last = _decoded(*ResponseStream("resp_1", "gpt").item(item))

    assert last["item"] == item
    if isinstance(announced, dict):
        assert {**first["item"], **announced} == first["item"]
        assert "action" not in first["item"]
    else:
        assert first["item"] == item


def test_the_last_event_says_how_it_went() -> None:
    stream = ResponseStream("resp_1", "gpt")

    done, failed, cut = _decoded(
        stream.complete(Tokens(10, 4, 3, 2)), stream.fail("c", "m"), stream.stop_early("r")
    )

    assert done["response"]["usage"] == {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens": 3,
        "output_tokens_details": {"reasoning_tokens": 2},
        "total_tokens": 13,
    }
    assert failed["response"]["error"] == {"code": "c", "message": "m"}
    assert cut["response"]["incomplete_details"] == {"reason": "r"}
