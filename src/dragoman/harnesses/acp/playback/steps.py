"""What an agent says over ACP while a turn of a recording goes by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from dragoman.harnesses.contract.playback import TimedMessage
from dragoman.model import tools
from dragoman.model.messages import (
    ApprovalRequested,
    Message,
    Plan,
    SessionStarted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UsageReport,
)
from dragoman.model.usage import Usage
from dragoman.wire.loose import as_dict

_KINDS: Final = {
    tools.BASH: "execute",
    tools.READ: "read",
    tools.LS: "read",
    tools.EDIT: "edit",
    tools.WRITE: "edit",
    tools.GREP: "search",
    tools.GLOB: "search",
    tools.WEB_FETCH: "fetch",
    tools.WEB_SEARCH: "fetch",
    tools.TASK: "think",
}
_OPTIONS: Final = {
    "allow": ("allow_once", "Allow"),
    "allow_for_session": ("allow_always", "Always allow"),
    "allow_always": ("allow_always", "Always allow"),
    "deny": ("reject_once", "Reject"),
}


class RecordedTurns(NamedTuple):
    """The session of a recording, and its turns."""

    started: SessionStarted
    session_id: str
    turns: list[list[TimedMessage]]


def recorded_session(cues: Sequence[TimedMessage]) -> RecordedTurns:
    """The first session of a recording, turn by turn. What its sub-agents do is left out."""
    found = (each.message for each in cues if isinstance(each.message, SessionStarted))
    started = next(found, SessionStarted(harness="acp"))
    own = started.session_id
    turns: list[list[TimedMessage]] = []
    for cue in cues:
        if cue.message.session_id not in (own, None):
            continue
        if isinstance(cue.message, TurnStarted):
            turns.append([])
        if turns:
            turns[-1].append(cue)
    return RecordedTurns(started, own or "recorded", turns)


@dataclass(frozen=True, slots=True)
class AcpStep:
    """Something that the agent says, so many seconds after the step before."""

    after: float
    update: dict[str, Any] | None = None
    asks: tuple[str, dict[str, Any]] | None = None
    """A request, its method and parameters; the turn waits for the answer."""
    ends: TurnEnded | None = None


def steps_of(turn: Iterable[TimedMessage]) -> list[AcpStep]:
    """The steps of one turn, up to its end."""
    steps: list[AcpStep] = []
    waited = 0.0
    for number, (after, message) in enumerate(turn, start=1):
        waited += after
        step = _step(waited, message, number)
        if step is not None:
            steps.append(step)
            waited = 0.0
            if step.ends is not None:
                return steps
    return [*steps, AcpStep(waited, ends=TurnEnded(outcome="interrupted"))]


def _step(after: float, message: Message, number: int) -> AcpStep | None:
    match message:
        case TurnEnded():
            return AcpStep(after, ends=message)
        case ApprovalRequested():
            return AcpStep(after, asks=_request(message))
        case _:
            update = _update(message, number)
            return AcpStep(after, update=update) if update is not None else None


def _update(message: Message, number: int) -> dict[str, Any] | None:
    match message:
        case Text():
            name = f"{message.message_id or 'text'}-{number}"
            return _chunk("agent_message_chunk", message.text, name)
        case Thinking():
            name = f"{message.item_id or 'thought'}-{number}"
            return _chunk("agent_thought_chunk", message.text, name)
        case ToolCall():
            return _call(message)
        case ToolResult():
            return _result(message) if message.status != "abandoned" else None
        case Plan():
            entries = [
                {"content": step.text, "status": step.status, "priority": "medium"}
                for step in message.steps
            ]
            return {"sessionUpdate": "plan", "entries": entries}
        case UsageReport(context_window=int() as window):
            cost = {"cost": {"amount": message.cost, "currency": "USD"}}
            used = message.last.total_tokens if message.last is not None else 0
            update = {"sessionUpdate": "usage_update", "used": used, "size": window}
            return {**update, **(cost if message.cost is not None else {})}
        case _:
            return None


def _chunk(kind: str, text: str, message_id: str) -> dict[str, Any]:
    content = {"type": "text", "text": text}
    return {"sessionUpdate": kind, "messageId": message_id, "content": content}


def _call(call: ToolCall) -> dict[str, Any]:
    return {
        "sessionUpdate": "tool_call",
        "toolCallId": call.call_id,
        "name": call.tool,
        "title": call.input.get("command") or call.tool,
        "kind": _KINDS.get(call.tool, "other"),
        "status": "in_progress",
        "rawInput": call.input,
    }


def _result(result: ToolResult) -> dict[str, Any]:
    raw: dict[str, Any] = {"output": result.output}
    if result.exit_code is not None:
        raw["exitCode"] = result.exit_code
    content = {"type": "content", "content": {"type": "text", "text": result.output}}
    return {
        "sessionUpdate": "tool_call_update",
        "toolCallId": result.call_id,
        "status": "failed" if result.is_error else "completed",
        "content": [content] if result.output else [],
        "rawOutput": raw,
    }


def _request(asked: ApprovalRequested) -> tuple[str, dict[str, Any]]:
    if asked.kind == "elicitation":
        form = {"mode": "url", "url": asked.url} if asked.url else {"mode": "form"}
        if asked.form is not None:
            form["requestedSchema"] = asked.form  # pyright: ignore[reportArgumentType]
        return "elicitation/create", {"message": asked.summary, **form}
    given = as_dict(asked.detail.get("input"))
    if asked.command is not None:
        given = {"command": asked.command}
    tool_call = {
        "toolCallId": asked.detail.get("call_id") or asked.approval_id,
        "name": asked.tool or "tool",
        "title": asked.summary or asked.tool or "tool",
        "kind": _KINDS.get(asked.tool or "", "other"),
        "status": "pending",
        "rawInput": given,
    }
    choices = [each for each in asked.choices if each in _OPTIONS] or ["allow", "deny"]
    options = [
        {"optionId": choice, "kind": _OPTIONS[choice][0], "name": _OPTIONS[choice][1]}
        for choice in choices
    ]
    return "session/request_permission", {"toolCall": tool_call, "options": options}


def wire_usage(usage: Usage) -> dict[str, Any]:
    """Counts in which the input includes what was cached."""
    return {
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
        "totalTokens": usage.total_tokens,
        "cachedReadTokens": usage.cached_input_tokens,
        "cachedWriteTokens": usage.cache_write_input_tokens,
        "thoughtTokens": usage.reasoning_output_tokens,
    }
