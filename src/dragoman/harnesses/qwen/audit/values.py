"""The values on a line that some message has to hold, and why the others need none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from dragoman.harnesses.assembly.omissions import Omission, Omissions
from dragoman.harnesses.contract.reading import Value
from dragoman.harnesses.qwen.failures import CANCELLED, taken_apart
from dragoman.harnesses.qwen.tools import result_of
from dragoman.model.tools import BASH
from dragoman.wire import jsonl
from dragoman.wire.loose import as_dict, as_list, as_str

UNSAID: Final = frozenset(
    (
        "bookkeeping",
        "row: it was written before",
        "journal: how it was recorded",
        "journal: the end of the input",
        "signature: it proves a thought, and says nothing",
        "tool input: the call has it whole",
        "content block: it comes whole",
        "content block: it came whole",
        "message: its blocks carry it",
        "prompt: it was never taken up",
        "control: the agent answered",
        "control: the host answered",
        "control: for an MCP server of the host",
        "control: a request was withdrawn",
    )
)
"""Reasons of duplicates that are about something else than sessions, or cannot be compared piece by piece."""
_CANCELLED: Final = frozenset((CANCELLED, "CANCELLED"))
_UNSAID_BEGINNINGS: Final = ("control: the host asked for ", "state: ")

OMISSIONS: Final = Omissions(
    (
        Omission(
            "what a line says about itself: what it is, whose it is, and when it was written",
            ("*.type", "*.subtype", "control_*.*.subtype", "**.uuid", "**.parentUuid", "**.sessionId", "**.session_id",
             "**.timestamp", "*.provenance", "*.cwd", "*.version", "**.parent_tool_use_id",
             "**.agentId", "**.agentName", "**.agentRunId", "**.agentRound", "*.forkedFrom.**",
             "*.backgroundTurn.**", "*.contextWindowSize", "**.request_id"),
        ),
        Omission(
            "a name by which lines refer to one another, and the kind of thing that is named",
            ("**.id", "**.*_id", "**.callId", "**.type", "**.role", "**.stop_reason", "**.signature"),
        ),
        Omission(
            "a setting of the session, which is no part of the conversation",
            ("system/init.tools[]", "system/init.mcp_servers[].**", "system/init.slash_commands[]",
             "system/init.agents[]", "system/init.permission_mode", "system/init.qwen_code_version"),
        ),
        Omission(
            "how the turn went, which its end and the tokens say; the counts are those of the session",
            ("result.duration_*", "result.num_turns", "result.error.message(cancelled)", "result.usage.**", "result.stats.**",
             "result.permission_denials[].**", "result.structured_result.**"),
        ),
        Omission(
            "counts that other lines have",
            ("assistant.message.usage.**", "assistant.usageMetadata.**",
             "system/task_notification.data.usage.**"),
        ),
        Omission(
            "what a row about a request or a call repeats of the response, of the call or of its result",
            ("system/ui_telemetry.systemPayload.uiEvent.**",),
        ),
        Omission(
            "how the next attempt is made, which the notice says in words",
            ("system/retry.data.**",),
        ),
        Omission(
            "the state of background work, which the sub-agent's own messages or a notice say",
            ("system/task_*.data.description", "system/task_*.data.subagent_type",
             "system/task_*.data.status", "*.systemPayload.backgroundTask.**"),
        ),
        Omission(
            "how the program shows a result, which the result has as text",
            ("tool_result.toolCallResult.**",),
        ),
        Omission(
            "a result that was emitted before",
            ("**.functionResponse.**",),
        ),
    )
)  # fmt: skip


def values(line: bytes, rule: str = "") -> Iterator[Value]:
    """The values on this line that some message has to hold, each with its place on the line."""
    if rule in UNSAID or rule.startswith(_UNSAID_BEGINNINGS):
        return
    given = _unwrapped(line)
    name = _name(given)
    for key, value in given.items():
        if key not in ("dir", "t"):
            yield from _inside(f"{name}.{key}", value)


def _unwrapped(line: bytes) -> dict[str, Any]:
    try:
        given = as_dict(jsonl.loads(line))
        if "dir" not in given:
            return given
        inner = given.get("msg", given.get("raw"))
        return as_dict(jsonl.loads(inner.encode()) if isinstance(inner, str) else inner)
    except jsonl.NotJson:
        return {}


def _name(line: dict[str, Any]) -> str:
    """What the line is called."""
    kind, subtype = as_str(line.get("type")) or "line", as_str(line.get("subtype"))
    if kind == "system" and subtype is not None:
        return f"{kind}/{subtype}"
    event = as_str(as_dict(line.get("event")).get("type"))
    return f"{kind}/{event}" if event is not None else kind


def _inside(place: str, value: Any) -> Iterator[Value]:
    """The values in a value, as deep as they are nested."""
    if isinstance(value, str) and value in _CANCELLED:
        place = f"{place}(cancelled)"
    if value in (None, "", [], {}) or isinstance(value, bool) or OMISSIONS.reason(place):
        return
    if isinstance(value, dict):
        for key, inner in as_dict(value).items():
            yield from _inside(f"{place}.{key}", inner)
    elif isinstance(value, list):
        for inner in as_list(value):
            yield from _inside(f"{place}[]", inner)
    else:
        yield Value(place, value, [[value], *_shorter(value)])


def _shorter(value: Any) -> list[list[Any]]:
    """What is emitted of a text: the output of a command without facts about it, an error without its brackets."""
    if not isinstance(value, str):
        return []
    said = taken_apart(value)
    printed = result_of(BASH, value, is_error=True)
    forms: list[list[Any]] = [[printed.output]] if printed.output != value else []
    if said.error is not None:
        forms.append([each for each in said if each])
    return forms
