"""The model's answer on the wire: events of the Messages API, or one message as a whole.

A block is opened empty, comes in pieces, and is closed. What it cost comes twice: the input with the
first event, the output with the last but one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from dragoman.rehearsal.actions import event
from dragoman.rehearsal.pieces import pieces
from dragoman.rehearsal.script import Tokens


class MessageStream:
    """One message, block by block."""

    def __init__(self, message_id: str, model: str, tokens: Tokens) -> None:
        self._message_id = message_id
        self._model = model
        self._tokens = tokens
        self._index = 0
        self.calls = False
        """Whether a tool was called, so that the agent must go on."""

    def begin(self) -> bytes:
        """The first event."""
        usage = {**input_usage(self._tokens), "output_tokens": 1}
        return _event("message_start", message=self._message([], None, usage))

    def block(self, block: dict[str, Any]) -> Iterator[bytes]:
        """A whole content block."""
        yield from self.opened(block)
        yield _event("content_block_stop", index=self._index)
        self._index += 1
        self.calls = self.calls or block.get("type") == "tool_use"

    def opened(self, block: dict[str, Any]) -> Iterator[bytes]:
        """A content block that is not closed."""
        empty, deltas = _taken_apart(block)
        yield _event("content_block_start", index=self._index, content_block=empty)
        for delta in deltas:
            yield _event("content_block_delta", index=self._index, delta=delta)

    def end(self, reason: str) -> Iterator[bytes]:
        """The last events."""
        delta = {"stop_reason": reason, "stop_sequence": None}
        yield _event("message_delta", delta=delta, usage=usage_of(self._tokens))
        yield _event("message_stop")

    def error(self, kind: str, message: str) -> bytes:
        """An error in the middle of the stream; nothing comes after it."""
        return _event("error", error={"type": kind, "message": message})

    def whole(self, blocks: list[dict[str, Any]], reason: str) -> dict[str, Any]:
        """The message at once, for a request that wants no stream."""
        return self._message(blocks, reason, usage_of(self._tokens))

    def _message(
        self, content: list[dict[str, Any]], reason: str | None, usage: dict[str, Any]
    ) -> dict[str, Any]:
        who = {"id": self._message_id, "type": "message", "role": "assistant", "model": self._model}
        return {
            **who,
            "content": content,
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": usage,
        }


def input_usage(tokens: Tokens) -> dict[str, Any]:
    """What the input cost; this API counts what comes from the cache, or goes there, apart."""
    return {
        "input_tokens": max(0, tokens.input - tokens.cached - tokens.written),
        "cache_creation_input_tokens": tokens.written,
        "cache_read_input_tokens": tokens.cached,
        "cache_creation": {
            "ephemeral_5m_input_tokens": tokens.written,
            "ephemeral_1h_input_tokens": 0,
        },
        "service_tier": "standard",
    }


def usage_of(tokens: Tokens) -> dict[str, Any]:
    """What the whole response cost. Thoughts are part of the output."""
    usage = {**input_usage(tokens), "output_tokens": tokens.output}
    if tokens.reasoning:
        usage["output_tokens_details"] = {"thinking_tokens": tokens.reasoning}
    return usage


def _event(kind: str, **fields: Any) -> bytes:
    return event(kind, {"type": kind, **fields})


def _taken_apart(block: dict[str, Any]) -> tuple[dict[str, Any], Iterator[dict[str, Any]]]:
    """A block as it is opened, and what is then added to it."""
    match block.get("type"):
        case "text":
            return {**block, "text": ""}, _deltas("text_delta", "text", block.get("text", ""))
        case "thinking":
            empty = {**block, "thinking": "", "signature": ""}
            return empty, _thought(block)
        case "tool_use" | "server_tool_use":
            given = block.get("input", {})
            text = given if isinstance(given, str) else msgspec.json.encode(given).decode()
            deltas = _deltas("input_json_delta", "partial_json", text)
            return {**block, "input": {}}, deltas
        case _:
            return block, iter(())


def _thought(block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from _deltas("thinking_delta", "thinking", block.get("thinking", ""))
    yield {"type": "signature_delta", "signature": block.get("signature", "")}


def _deltas(kind: str, field: str, text: Any) -> Iterator[dict[str, Any]]:
    for piece in pieces(str(text)):
        yield {"type": kind, field: piece}
