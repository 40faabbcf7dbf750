"""Reading streams of the Responses API itself, and what looks like them.

Server-sent events (``event:`` and ``data:`` lines) or one JSON event per line. Documents about
``codex exec`` also show ``session.created`` with an id and a model, and ``message.output_text.delta``
and ``.done``: no release has sent those, but they are read here.

| event | becomes |
|---|---|
| session.created | session_started |
| response.created, response.in_progress | turn_started |
| response.output_text.delta, message.output_text.delta | delta |
| response.output_item.done | see response_items |
| response.output_text.done, message.output_text.done | text, unless the item has it |
| response.reasoning_summary_text.delta, response.reasoning_text.delta | delta |
| response.completed, response.incomplete, response.failed | usage; the last also fails the turn |
| error | notice |
| any other ``response.…`` | a duplicate of the item it belongs to |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import msgspec

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.codex.failures import turn_error
from dragoman.harnesses.codex.responses.shapes import AnyResponseItem
from dragoman.harnesses.codex.stream import StreamParser
from dragoman.harnesses.codex.threads import Thread
from dragoman.harnesses.codex.values.loose import as_count, as_dict, as_str
from dragoman.harnesses.contract.reading import Ending
from dragoman.model.messages import DeltaOf
from dragoman.model.usage import Usage
from dragoman.wire import jsonl

CHANNEL: Final = "stream"


class ResponsesParser(StreamParser):
    """One stream of response events."""

    def __init__(self, *, only: frozenset[str] | None = None, audit: bool = False) -> None:
        super().__init__(only=only, audit=audit)
        self._thread = Thread(self._out, None)
        self._thread.responses.alone = True
        self._session.says_ends = False
        self._is_complete = False
        """Whether the newest response came to its end, so that the turn was not cut off."""

    @property
    def _session(self) -> SessionAssembler:
        return self._thread.session

    def _read(self, line: bytes) -> None:
        data = line.strip()
        if data.startswith((b"event:", b":", b"id:", b"retry:")):
            self._out.duplicate("server-sent events: the data line carries it")
            return
        if data.startswith(b"data:"):
            data = data[5:].strip()
            if data == b"[DONE]":
                self._out.duplicate("server-sent events: the stream ends")
                return
        try:
            event = as_dict(jsonl.loads(data))
        except jsonl.NotJson:
            self._keep_data(line, data)
            return
        name = as_str(event.get("type")) or ""
        tell = _TELL.get(name)
        if tell is not None:
            tell(self, event)
        elif name.startswith("response."):
            self._out.duplicate("response: its items carry it")
        else:
            self._unknown(line, name or "object")

    def _keep_data(self, line: bytes, data: bytes) -> None:
        if data and data is not line:
            self._malformed(line)
        else:
            self._keep(line)

    def _say_held(self) -> None:
        self._thread.release()

    def _finish(self, ending: Ending) -> None:
        if self._is_complete:
            self._thread.responses.end_turn()
            self._session.end_turn("completed")
        self._thread.finish()

    def _speaker(self) -> SessionAssembler:
        return self._session

    def _created(self, event: dict[str, Any]) -> None:
        self._session.session_id = as_str(event.get("id")) or as_str(event.get("session_id"))
        self._session.begin_session(model=as_str(event.get("model")))

    def _begun(self, event: dict[str, Any]) -> None:
        response = as_dict(event.get("response"))
        self._is_complete = False
        if not self._session.has_facts:
            self._session.begin_session(model=as_str(response.get("model")))
        if not self._session.in_turn:
            self._session.begin_turn()
        else:
            self._out.duplicate("response: a further one of the same turn")

    def _text_delta(self, event: dict[str, Any]) -> None:
        self._delta("text", event)

    def _thinking_delta(self, event: dict[str, Any]) -> None:
        self._delta("thinking", event)

    def _delta(self, of: DeltaOf, event: dict[str, Any]) -> None:
        if not self._session.in_turn:
            self._session.begin_turn()
        text, item_id = as_str(event.get("delta")) or "", as_str(event.get("item_id"))
        self._session.delta(CHANNEL, of, text, item_id)

    def _text_done(self, event: dict[str, Any]) -> None:
        if "item_id" in event or "output_index" in event:
            self._out.duplicate("text: the item carries it")
        else:
            self._session.text(CHANNEL, as_str(event.get("text")) or "")

    def _item_done(self, event: dict[str, Any]) -> None:
        try:
            item = msgspec.convert(event.get("item"), AnyResponseItem)
        except jsonl.UNREADABLE:
            name = as_str(as_dict(event.get("item")).get("type")) or "item"
            self._unknown(msgspec.json.encode(event), f"item {name}")
            return
        self._thread.responses.tell(item)

    def _ended(self, event: dict[str, Any]) -> None:
        response = as_dict(event.get("response"))
        usage = as_dict(response.get("usage") or event.get("usage"))
        if usage:
            self._session.usage(None, _usage(usage), response_id=as_str(response.get("id")))
        else:
            self._out.duplicate("response: its items carry it")
        self._is_complete = event.get("type") == "response.completed"
        error = as_dict(response.get("error"))
        if error:
            message = as_str(error.get("message")) or as_str(error.get("code")) or ""
            if not self._session.in_turn:
                self._session.begin_turn()
            self._session.fail_turn(turn_error(message, error.get("code")))

    def _error(self, event: dict[str, Any]) -> None:
        message = event.get("message")
        text = message if isinstance(message, str) else msgspec.json.encode(event).decode()
        self._session.notice(CHANNEL, "error", text)


def _usage(usage: dict[str, Any]) -> Usage:
    read, thought = usage.get("input_tokens_details"), usage.get("output_tokens_details")
    return Usage(
        input_tokens=as_count(usage.get("input_tokens")),
        cached_input_tokens=as_count(as_dict(read).get("cached_tokens"))
        or as_count(usage.get("cached_input_tokens")),
        output_tokens=as_count(usage.get("output_tokens")),
        reasoning_output_tokens=as_count(as_dict(thought).get("reasoning_tokens")),
    )


_Tell: TypeAlias = Callable[[ResponsesParser, dict[str, Any]], None]
_TELL: Final[dict[str, _Tell]] = {
    "session.created": ResponsesParser._created,
    "response.created": ResponsesParser._begun,
    "response.output_text.delta": ResponsesParser._text_delta,
    "message.output_text.delta": ResponsesParser._text_delta,
    "response.reasoning_summary_text.delta": ResponsesParser._thinking_delta,
    "response.reasoning_text.delta": ResponsesParser._thinking_delta,
    "response.output_text.done": ResponsesParser._text_done,
    "message.output_text.done": ResponsesParser._text_done,
    "response.output_item.done": ResponsesParser._item_done,
    "response.completed": ResponsesParser._ended,
    "response.incomplete": ResponsesParser._ended,
    "response.failed": ResponsesParser._ended,
    "error": ResponsesParser._error,
}
