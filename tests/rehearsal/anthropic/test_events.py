from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.rehearsal.anthropic.events import MessageStream, usage_of
from dragoman.rehearsal.script import Tokens

_TOKENS = Tokens(100, 60, 20, 7, 30)


def _data(events: list[bytes]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for event in events:
        kind, data = event.removesuffix(b"\n\n").split(b"\n")
        value = json.loads(data.removeprefix(b"data: "))
        assert kind == b"event: " + value["type"].encode()
        found.append(value)
    return found


def _stream() -> MessageStream:
    return MessageStream("msg_1", "m", _TOKENS)


def test_a_message_is_opened_and_closed() -> None:
    stream = _stream()
    first, *last = _data([stream.begin(), *stream.end("end_turn")])

    assert first["type"] == "message_start"
    assert (first["message"]["id"], first["message"]["model"]) == ("msg_1", "m")
    assert (first["message"]["content"], first["message"]["stop_reason"]) == ([], None)
    assert [event["type"] for event in last] == ["message_delta", "message_stop"]
    assert last[0]["delta"]["stop_reason"] == "end_turn"
    assert last[0]["usage"]["output_tokens"] == 20


@pytest.mark.parametrize(
    ("block", "kinds", "field"),
    [
        ({"type": "text", "text": "one two"}, ["text_delta"] * 2, "text"),
        (
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            ["thinking_delta", "signature_delta"],
            "thinking",
        ),
        (
            {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}},
            ["input_json_delta"],
            "partial_json",
        ),
        ({"type": "redacted_thinking", "data": "x"}, [], ""),
    ],
)
def test_a_block_comes_in_pieces(block: dict[str, Any], kinds: list[str], field: str) -> None:
    stream = _stream()
    start, *deltas, stop = _data(list(stream.block(block)))

    assert start["type"] == "content_block_start"
    assert start["content_block"]["type"] == block["type"]
    assert [delta["delta"]["type"] for delta in deltas] == kinds
    text = "".join(delta["delta"].get(field, "") for delta in deltas)
    if field == "partial_json":
        assert json.loads(text) == block["input"]
        assert start["content_block"]["input"] == {}
    elif field:
        assert text == block[field]
        assert start["content_block"][field] == ""
    assert stop == {"type": "content_block_stop", "index": 0}
    assert stream.calls is (block["type"] == "tool_use")
    assert _data(list(stream.block(block)))[0]["index"] == 1


def test_an_error_can_come_in_the_middle() -> None:
    [event] = _data([_stream().error("overloaded_error", "Overloaded")])

    expected = {"type": "overloaded_error", "message": "Overloaded"}
    assert event == {"type": "error", "error": expected}


def test_the_cache_is_counted_apart_from_the_input() -> None:
    usage = usage_of(_TOKENS)

    assert usage["input_tokens"] == 10
    assert usage["cache_read_input_tokens"] == 60
    assert usage["cache_creation_input_tokens"] == 30
    assert usage["output_tokens_details"] == {"thinking_tokens": 7}
    assert "output_tokens_details" not in usage_of(Tokens())


def test_a_message_can_be_had_whole() -> None:
    block = {"type": "text", "text": "hi"}

    whole = _stream().whole([block], "end_turn")

    assert (whole["role"], whole["content"], whole["stop_reason"]) == (
        "assistant",
        [block],
        "end_turn",
    )
