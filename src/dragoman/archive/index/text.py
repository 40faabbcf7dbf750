"""What a message is found by: the words that people look for, and not all that was ever printed.

Prompts, texts and thoughts are taken whole, up to a length that nobody types; of calls the commands,
paths and the heads of what they write; of outputs the head and the tail. The whole of every
output can be searched by a scan of the files themselves (:mod:`dragoman.archive.search.scanning`).
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
    """How a message is indexed."""

    kind: str
    body: str
    tool: str | None = None
    is_error: bool = False


def index_text(message: Message) -> IndexText | None:
    """The words of a message; None for one that nobody looks for."""
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


# A table rather than a ``match``: this is asked of every message there ever was.
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
    """The first and the last of a text, if it is longer than both together."""
    return text if len(text) <= head + tail else f"{text[:head]}\n{text[-tail:]}"


def _said(call: ToolCall) -> list[str]:
    """The texts in a tool's input, each shortened, all together not too long."""
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
