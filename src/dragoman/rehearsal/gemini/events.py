"""The model's answer on the wire: pieces of a response, each a response in itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from dragoman.rehearsal.pieces import pieces
from dragoman.rehearsal.script import Tokens


class GeminiReply:
    """One response, piece by piece."""

    def __init__(self, reply_id: str, model: str, tokens: Tokens) -> None:
        self._reply_id = reply_id
        self._model = model
        self._tokens = tokens

    def part(self, part: dict[str, Any]) -> Iterator[bytes]:
        """A part: a text comes in pieces, anything else whole; so does a thought, which would become several."""
        text = part.get("text")
        if not isinstance(text, str) or part.get("thought"):
            yield data(self.body([part]))
            return
        for piece in pieces(text):
            yield data(self.body([{**part, "text": piece}]))

    def end(self, reason: str) -> bytes:
        """The last piece, which says what it cost."""
        return data(self.body([{"text": ""}], reason))

    def body(self, parts: list[dict[str, Any]], reason: str | None = None) -> dict[str, Any]:
        """A piece of the response, or the whole of it if there is a reason to end."""
        candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
        body: dict[str, Any] = {"candidates": [candidate], "modelVersion": self._model}
        body["responseId"] = self._reply_id
        if reason is not None:
            candidate["finishReason"] = reason
            body["usageMetadata"] = usage_of(self._tokens)
        return body


def data(body: Any) -> bytes:
    """One server-sent event: this API gives them no names."""
    return b"data: " + msgspec.json.encode(body) + b"\r\n\r\n"


def usage_of(tokens: Tokens) -> dict[str, Any]:
    """What the response cost. Thoughts are counted apart from the output here."""
    usage = {
        "promptTokenCount": tokens.input,
        "candidatesTokenCount": max(0, tokens.output - tokens.reasoning),
        "totalTokenCount": tokens.input + tokens.output,
    }
    if tokens.cached:
        usage["cachedContentTokenCount"] = tokens.cached
    if tokens.reasoning:
        usage["thoughtsTokenCount"] = tokens.reasoning
    return usage
