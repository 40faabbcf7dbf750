"""The model's answer on the wire: chunks of a chat completion, or one completion as a whole.

There are no items here: one message has its thoughts, its text and its calls side by side, and each chunk adds to
one of them. What it cost comes last, in a chunk without a choice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from dragoman.rehearsal.pieces import pieces
from dragoman.rehearsal.script import Tokens

DONE = b"data: [DONE]\n\n"


class ChatReply:
    """One completion, chunk by chunk."""

    def __init__(self, reply_id: str, model: str) -> None:
        self._head = {"id": reply_id, "created": 0, "model": model}
        self._calls = 0

    @property
    def usual_end(self) -> str:
        """Why the message ends when nothing is wrong."""
        return "tool_calls" if self._calls else "stop"

    def begin(self) -> bytes:
        """The first chunk."""
        return self._chunk({"role": "assistant", "content": ""})

    def part(self, part: dict[str, Any]) -> Iterator[bytes]:
        """A part of the message, see :func:`dragoman.rehearsal.chat.parts.part_of`."""
        match part:
            case {"text": str() as text}:
                for piece in pieces(text):
                    yield self._chunk({"content": piece})
            case {"reasoning": str() as text}:
                for piece in pieces(text):
                    yield self._chunk({"reasoning_content": piece})
            case {"call": _}:
                yield from self._call(part["call"])
            case _:
                return

    def end(self, reason: str, tokens: Tokens) -> Iterator[bytes]:
        """The last chunks."""
        yield self._chunk({}, reason)
        none: list[Any] = []
        body = {**self._head, "object": "chat.completion.chunk", "choices": none}
        yield data({**body, "usage": usage_of(tokens)})
        yield DONE

    def whole(self, parts: Iterable[dict[str, Any]], reason: str | None, tokens: Tokens) -> Any:
        """The completion at once, for a request that wants no stream."""
        message: dict[str, Any] = {"role": "assistant", "content": None}
        for part in parts:
            match part:
                case {"text": str() as text}:
                    message["content"] = (message["content"] or "") + text
                case {"reasoning": str() as text}:
                    message["reasoning_content"] = message.get("reasoning_content", "") + text
                case {"call": _}:
                    self._calls += 1
                    message.setdefault("tool_calls", []).append(part["call"])
                case _:
                    continue
        choice = {"index": 0, "message": message, "finish_reason": reason or self.usual_end}
        body = {**self._head, "object": "chat.completion", "choices": [choice]}
        return {**body, "usage": usage_of(tokens)}

    def _call(self, call: dict[str, Any]) -> Iterator[bytes]:
        function = call["function"]
        at, self._calls = self._calls, self._calls + 1
        opened = {**call, "index": at, "function": {**function, "arguments": ""}}
        yield self._chunk({"tool_calls": [opened]})
        for piece in pieces(function["arguments"]):
            yield self._chunk({"tool_calls": [{"index": at, "function": {"arguments": piece}}]})

    def _chunk(self, delta: dict[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return data({**self._head, "object": "chat.completion.chunk", "choices": [choice]})


def data(body: Any) -> bytes:
    """One server-sent event: this API gives them no names."""
    return b"data: " + msgspec.json.encode(body) + b"\n\n"


def usage_of(tokens: Tokens) -> dict[str, Any]:
    """What the completion cost."""
    return {
        "prompt_tokens": tokens.input,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.input + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cached},
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning},
    }
