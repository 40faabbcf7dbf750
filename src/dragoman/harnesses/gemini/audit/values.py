"""The values on a line that some message has to hold, and why the others need none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from dragoman.harnesses.acp.audit import values as values_over_acp
from dragoman.harnesses.assembly.omissions import Omission, Omissions
from dragoman.harnesses.contract.reading import Value
from dragoman.harnesses.gemini.failures import result_error
from dragoman.harnesses.gemini_tools.results import unwrapped
from dragoman.wire import jsonl
from dragoman.wire.directions import unwrap
from dragoman.wire.loose import as_dict, as_str

UNSAID: Final = frozenset(
    (
        "bookkeeping",
        "header: the session goes on",
        "journal: how it was recorded",
        "journal: the end of the input",
        "journal: the input of the run",
    )
)
"""Reasons of duplicates that say nothing that a message has to hold."""

OMISSIONS: Final = Omissions(
    (
        Omission(
            "what a line says about itself: what it is, and when it was written",
            ("**.type", "**.timestamp", "**.id", "**.lastUpdated", "**.sessionId", "**.role",
             "**.projectHash", "**.startTime", "**.kind", "*.delta", "*.status", "error.severity"),
        ),
        Omission(
            "how the program shows a call; the call and its result have what it says",
            ("**.resultDisplay.**", "**.resultDisplay", "**.displayName", "**.description",
             "**.renderOutputAsMarkdown", "**.agentId"),
        ),
        Omission(
            "the call that a result belongs to is named by its id",
            ("**.functionResponse.name", "**.functionCall.name", "**.functionCall.args.**",
             "**.toolCalls[].name", "**.toolCalls[].args.**", "**.toolCalls[].status"),
        ),
        Omission(
            "a result as the model is given it; the call's own result has what it says",
            ("**.functionResponse.response.**", "**.functionResponse.parts[].**"),
        ),
        Omission(
            "the tokens of a response are counted once; other lines of it repeat them",
            ("**.tokens.**",),
        ),
        Omission("proof of a thought, which says nothing", ("**.thoughtSignature", "**.thought")),
        Omission(
            "what the run took in all; the turn's end has its tokens",
            ("result.stats.**",),
        ),
        Omission(
            "the error that the result of the call has in other words",
            ("tool_result.error.**",),
        ),
        Omission(
            "notes that the program keeps for itself",
            ("$set.memoryScratchpad.**", "$set.directories[]"),
        ),
    )
)  # fmt: skip


def values(line: bytes, rule: str = "") -> Iterator[Value]:
    """The values on this line that some message has to hold, each with its place on the line."""
    if rule in UNSAID:
        return
    try:
        given = as_dict(jsonl.loads(unwrap(line).line))
    except (jsonl.NotJson, *jsonl.UNREADABLE):
        return
    if given.get("dir") == "file":
        return  # a row of a chat beside the wire: where the chat itself is read, it is checked
    if "jsonrpc" in given:
        yield from values_over_acp(line, rule)
        return
    patch = as_dict(given.get("$set"))
    name = "$set" if patch else as_str(given.get("type")) or "line"
    for key, value in (patch or given).items():
        yield from OMISSIONS.values(f"{name}.{key}", value, _shorter)


def _shorter(value: Any) -> list[list[Any]]:
    """A text without what the program puts around it."""
    if not isinstance(value, str):
        return []
    return [[unwrapped(value)], [result_error({"message": value}).message]]
