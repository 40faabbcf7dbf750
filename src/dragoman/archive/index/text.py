"""Choose the index text of a message: what people search for, not everything that was printed.

Prompts, texts and thoughts are indexed completely up to a generous limit; calls with their
commands, paths and the beginning of what they write; outputs with their head and tail. A scan of
the files (:mod:`dragoman.archive.search.scanning`) finds everything else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, cast

from dragoman.model.messages import (
    Compacted,
    Message,
    Notice,
    Prompt,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
)

OUTPUT_HEAD: Final = 2000
OUTPUT_TAIL: Final = 1000
_WORDS: Final = 100_000
_VALUE: Final = 2000
_INPUT: Final = 6000


class IndexText(NamedTuple):
    """The text by which a message is found, and its kind."""

    kind: str
    body: str
    tool: str | None = None
    is_error: bool = False


def index_text(message: Message) -> IndexText | None:
    """Return the index text of a message; None if it is not searchable."""
    read = _READERS.get(message.__class__)
    return read(message) if read is not None else None


def _result(message: ToolResult) -> IndexText | None:
    output = message.output
    if not output and (message.status == "abandoned" or not message.is_error):
        return None
    body = ends(output, OUTPUT_HEAD, OUTPUT_TAIL)
    return IndexText("tool_result", body, None, message.is_error)


def _call(message: ToolCall) -> IndexText:
    return IndexText("tool_call", " ".join(_said(message)), message.tool)


def _thinking(message: Thinking) -> IndexText:
    return IndexText("thinking", message.text[:_WORDS])


def _text(message: Text) -> IndexText:
    return IndexText("text", message.text[:_WORDS])


def _prompt(message: Prompt) -> IndexText:
    return IndexText("prompt", ends(message.text, _WORDS, OUTPUT_TAIL))


def _notice(message: Notice) -> IndexText | None:
    if message.level == "info":
        return None
    return IndexText("notice", message.text[:_VALUE], is_error=message.level == "error")


def _turn_ended(message: TurnEnded) -> IndexText | None:
    error = message.error
    if error is None:
        return None
    return IndexText("turn_ended", f"{error.kind} {error.message[:_VALUE]}", is_error=True)


def _compacted(message: Compacted) -> IndexText | None:
    if not message.summary:
        return None
    return IndexText("compacted", ends(message.summary, OUTPUT_HEAD, OUTPUT_TAIL))


# A table is faster than ``match``, and this runs for every message.
_READERS: Final[dict[type[Any], Callable[[Any], IndexText | None]]] = {
    ToolResult: _result,
    ToolCall: _call,
    Thinking: _thinking,
    Text: _text,
    Prompt: _prompt,
    Notice: _notice,
    TurnEnded: _turn_ended,
    Compacted: _compacted,
}


def ends(text: str, head: int, tail: int) -> str:
    """Return the head and tail of a text that is longer than both."""
    return text if len(text) <= head + tail else f"{text[:head]}\n{text[-tail:]}"


def _said(call: ToolCall) -> list[str]:
    """Return the texts in a tool's input, each shortened, up to a total length."""
    said = [call.native_tool] if call.native_tool != call.tool else []
    _gather(call.input, said, _INPUT)
    return said


def _gather(value: Any, said: list[str], room: int) -> int:
    if room <= 0:
        return 0
    if isinstance(value, str):
        said.append(value[: min(room, _VALUE)])
        return room - len(said[-1])
    if isinstance(value, dict):
        for inner in cast("dict[str, Any]", value).values():
            room = _gather(inner, said, room)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            room = _gather(inner, said, room)
    return room
