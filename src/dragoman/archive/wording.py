"""What a message is found by: the words that people look for, and not all that was ever printed.

Prompts, texts and thoughts are taken whole, up to a length that nobody types; of calls the commands,
paths and the heads of what they write; of outputs the head and the tail. The whole of every
output can be searched by a scan of the files themselves (:mod:`dragoman.archive.scanning`).
"""

from __future__ import annotations

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


class Words(NamedTuple):
    """How a message is indexed."""

    kind: str
    body: str
    tool: str | None = None
    is_error: bool = False


def words_of(message: Message, tool: str | None = None) -> Words | None:
    """The words of a message; None for one that nobody looks for. ``tool`` is a result's."""
    match message:
        case ToolResult(output=output, is_error=is_error, status=status):
            if not output and (status == "abandoned" or not is_error):
                return None
            return Words("tool_result", ends(output, OUTPUT_HEAD, OUTPUT_TAIL), tool, is_error)
        case ToolCall():
            return Words("tool_call", " ".join(_said(message)), message.tool)
        case Thinking(text=text):
            return Words("thinking", text[:_WORDS])
        case Text(text=text):
            return Words("text", text[:_WORDS])
        case Prompt(text=text):
            return Words("prompt", ends(text, _WORDS, OUTPUT_TAIL))
        case Notice(level=level, text=text) if level != "info":
            return Words("notice", text[:_VALUE], is_error=level == "error")
        case TurnEnded(error=error) if error is not None:
            return Words("turn_ended", f"{error.kind} {error.message[:_VALUE]}", is_error=True)
        case Compacted(summary=summary) if summary:
            return Words("compacted", ends(summary, OUTPUT_HEAD, OUTPUT_TAIL))
        case _:
            return None


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
