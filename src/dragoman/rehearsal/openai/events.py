"""The model's answer on the wire: events of the Responses API, as server-sent events.

An item is announced, comes in pieces where the API has pieces for it, and is then given whole. The
final event carries the token counts; agents take the items from the stream, so it does not repeat
them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dragoman.rehearsal.actions import event
from dragoman.rehearsal.pieces import pieces
from dragoman.rehearsal.script import Tokens


class ResponseStream:
    """The events of one response, numbered."""

    def __init__(self, response_id: str, model: str) -> None:
        self._response_id = response_id
        self._model = model
        self._number = 0
        self._index = 0

    def event(self, kind: str, **fields: Any) -> bytes:
        """One event."""
        data = {"type": kind, "sequence_number": self._number, **fields}
        self._number += 1
        return event(kind, data)

    def begin(self) -> bytes:
        """The first event."""
        return self._status("response.created", "in_progress")

    def complete(self, tokens: Tokens) -> bytes:
        """The last event, when all went well."""
        details = {"cached_tokens": tokens.cached}
        if tokens.written:
            details["cache_write_tokens"] = tokens.written
        usage = {
            "input_tokens": tokens.input,
            "input_tokens_details": details,
            "output_tokens": tokens.output,
            "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
            "total_tokens": tokens.input + tokens.output,
        }
        return self._status("response.completed", "completed", usage=usage)

    def fail(self, code: str, message: str) -> bytes:
        """The last event, when the model failed."""
        error = {"code": code, "message": message}
        return self._status("response.failed", "failed", error=error)

    def stop_early(self, reason: str) -> bytes:
        """The last event, when the model was cut short."""
        details = {"reason": reason}
        return self._status("response.incomplete", "incomplete", incomplete_details=details)

    def item(self, item: dict[str, Any]) -> Iterator[bytes]:
        """A whole output item."""
        yield self._added(item)
        match item["type"]:
            case "message":
                yield from self._text(item)
            case "reasoning":
                yield from self._reasoning(item)
            case "custom_tool_call":
                yield from self._input(item)
            case _:
                pass
        yield self.event("response.output_item.done", output_index=self._index, item=item)
        self._index += 1

    def unfinished_text(self, item: dict[str, Any]) -> Iterator[bytes]:
        """A message that begins and never ends."""
        yield self._added(item)
        yield from self._deltas(item)

    def _status(self, kind: str, status: str, **fields: Any) -> bytes:
        response = {"id": self._response_id, "object": "response", "status": status}
        return self.event(kind, response={**response, "model": self._model, "output": [], **fields})

    def _added(self, item: dict[str, Any]) -> bytes:
        empty: dict[str, dict[str, Any]] = {
            "message": {"content": []},
            "reasoning": {"summary": [], "content": []},
            "custom_tool_call": {"input": ""},
            "image_generation_call": {"result": ""},
        }
        head = {key: value for key, value in item.items() if key != "action"}
        if item["type"] == "local_shell_call":
            head["action"] = item["action"]
        if "status" in head:
            head["status"] = "in_progress"
        head |= {k: v for k, v in empty.get(item["type"], {}).items() if k in head}
        return self.event("response.output_item.added", output_index=self._index, item=head)

    def _text(self, item: dict[str, Any]) -> Iterator[bytes]:
        place = {"item_id": item["id"], "output_index": self._index, "content_index": 0}
        empty: dict[str, Any] = {"type": "output_text", "text": "", "annotations": []}
        yield self.event("response.content_part.added", **place, part=empty)
        yield from self._deltas(item)
        text = item["content"][0]["text"]
        yield self.event("response.output_text.done", **place, text=text)

    def _deltas(self, item: dict[str, Any]) -> Iterator[bytes]:
        place = {"item_id": item["id"], "output_index": self._index, "content_index": 0}
        for piece in pieces(item["content"][0]["text"]):
            yield self.event("response.output_text.delta", **place, delta=piece)

    def _reasoning(self, item: dict[str, Any]) -> Iterator[bytes]:
        place = {"item_id": item["id"], "output_index": self._index}
        for at, part in enumerate(item["summary"]):
            here = {**place, "summary_index": at}
            empty = {"type": "summary_text", "text": ""}
            yield self.event("response.reasoning_summary_part.added", **here, part=empty)
            for piece in pieces(part["text"]):
                yield self.event("response.reasoning_summary_text.delta", **here, delta=piece)
            text = part["text"]
            yield self.event("response.reasoning_summary_text.done", **here, text=text)
        for at, part in enumerate(item.get("content") or []):
            here = {**place, "content_index": at}
            for piece in pieces(part["text"]):
                yield self.event("response.reasoning_text.delta", **here, delta=piece)

    def _input(self, item: dict[str, Any]) -> Iterator[bytes]:
        place = {"item_id": item["id"], "output_index": self._index, "call_id": item["call_id"]}
        for piece in pieces(item["input"]):
            yield self.event("response.custom_tool_call_input.delta", **place, delta=piece)
