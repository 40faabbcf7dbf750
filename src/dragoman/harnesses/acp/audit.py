"""What an audit knows about the lines that make no message of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from dragoman.harnesses.acp.failures import INTERNAL
from dragoman.harnesses.assembly.omissions import Omission, Omissions
from dragoman.harnesses.contract.reading import Value
from dragoman.wire import jsonl
from dragoman.wire.directions import unwrap
from dragoman.wire.jsonl import UNREADABLE
from dragoman.wire.loose import as_dict, as_str

_UNSAID: Final = (
    "journal: ",
    "control: ",
    "state: ",
    "client: ",
    "file: ",
    "history: ",
    "prompt: it waits",
    "text: it comes whole",
    "turn: ended before",
    "usage: ",
    "session: ",
)
"""How the reasons begin whose lines are about something else than the conversation, or are repeated whole."""

_INTERRUPTIONS: Final = "[Request interrupted by user"
"""How an agent words the end of a turn that was stopped."""
OMISSIONS: Final = (
    Omission(
        "what a line says about itself: its kind, its names, when it was written",
        ("**.sessionUpdate", "**.toolCallId", "**.sessionId", "**.messageId", "*.jsonrpc", "*.id",
         "*.method", "**._meta.**", "**.type"),
    ),
    Omission(
        "how a client shows a call; the call's tool, input and result say it",
        ("**.update.title", "**.update.name", "**.update.kind", "**.update.status", "**.update.locations[].**"),
    ),
    Omission(
        "the input of a call as far as it was known, and what is shown before the call has begun; the call has it "
        "whole",
        ("tool_call*.params.update.rawInput.**", "tool_call*.params.update.rawInput",
         "tool_call*.params.update.content[].**"),
    ),
    Omission(
        "a tool's own account of its result, which the result has as text",
        ("tool_call*.params.update.rawOutput.**",),
    ),
    Omission(
        "the choices that a session offers, and how a plan's steps are ranked",
        ("config_option_update.params.update.configOptions[].**", "plan.params.update.entries[].priority",
         "response.result.configOptions[].**", "response.result.modes.**", "response.result.models.**"),
    ),
    Omission(
        "a question as a client shows it; the approval has what it is about, and its choices",
        ("session/request_permission.params.options[].**",
         "session/request_permission.params.toolCall.kind",
         "session/request_permission.params.toolCall.status",
         "session/request_permission.params.toolCall.locations[].**",
         "session/request_permission.params.toolCall.rawInput.diff"),
    ),
    Omission(
        "a word that the decision or the outcome has in ours",
        ("response.result.outcome.**", "response.result.stopReason", "response.error.code", "response.error.data.**",
         "_qwencode/end_turn.params.**"),
    ),
    Omission(
        "tokens of the process or of one response; the turn's own are counted from them where they can be",
        ("response.result.usage.**",),
    ),
)  # fmt: skip
_OMISSIONS: Final = Omissions(OMISSIONS)


def values(line: bytes, rule: str = "") -> Iterator[Value]:
    """The values on this line that some message has to hold, each with its place on the line.

    ``rule`` says why the line has made no message of its own.
    """
    if rule.startswith(_UNSAID):
        return
    try:
        given = as_dict(jsonl.loads(unwrap(line).line))
    except (jsonl.NotJson, *UNREADABLE):
        return
    name = _name(given)
    for key, value in given.items():
        for each in _OMISSIONS.values(f"{name}.{key}", value, _shorter):
            if not (isinstance(each.value, str) and each.value.startswith(_INTERRUPTIONS)):
                yield each


def _name(line: dict[str, Any]) -> str:
    update = as_dict(as_dict(line.get("params")).get("update"))
    return as_str(update.get("sessionUpdate")) or as_str(line.get("method")) or "response"


def _shorter(value: Any) -> list[list[Any]]:
    """A text without what is put around it; a file's text, line by line, as a difference has it."""
    if not isinstance(value, str):
        return []
    answer = as_dict(as_dict(_decoded(value)).get("error"))
    return [
        [INTERNAL.sub("", value)],
        value.split("\n"),
        *([[answer["message"]]] if "message" in answer else []),
    ]


def _decoded(text: str) -> Any:
    """The service's answer that an agent gives as the text of its error."""
    try:
        return jsonl.loads(text.encode()) if text.startswith("{") else None
    except jsonl.NotJson:
        return None
