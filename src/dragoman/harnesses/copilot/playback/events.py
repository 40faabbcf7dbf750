"""Messages written as Copilot's events."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from dragoman.harnesses.contract.playback import TimedMessage
from dragoman.harnesses.copilot.playback.calls import request_of
from dragoman.model import messages as m


class WrittenEvent(NamedTuple):
    """An event, and how many seconds it comes after the one before it."""

    after: float
    type: str
    data: dict[str, Any]
    ephemeral: bool = False
    agent: str | None = None
    asks: str | None = None
    """The approval that it waits for."""
    ends: bool = False
    """Whether the turn is over with it."""


class EventWriter:
    """Writes the turns of one session."""

    def __init__(self, own: str | None) -> None:
        self._own = own
        self._number = 0

    def turn(self, cues: list[TimedMessage], message_id: str) -> Iterator[WrittenEvent]:
        """The events of one turn, whose prompt has this id."""
        waited = 0.0
        for after, message in cues:
            waited += after
            for event in self._events(message, message_id):
                yield event._replace(after=waited)
                waited = 0.0

    def envelope(self, event: WrittenEvent) -> dict[str, Any]:
        """The event as it is on the wire."""
        self._number += 1
        line: dict[str, Any] = {"type": event.type, "data": event.data}
        if event.ephemeral:
            line["ephemeral"] = True
        if event.agent is not None:
            line["agentId"] = event.agent
        line["id"] = made_up_id(self._number)
        at = datetime.fromtimestamp(1_800_000_000 + self._number / 1000, UTC)
        line["timestamp"] = at.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
        line["parentId"] = made_up_id(self._number - 1) if self._number > 1 else None
        return line

    def _events(self, message: m.Message, message_id: str) -> Iterator[WrittenEvent]:
        agent = message.session_id if message.session_id != self._own else None
        for event in self._of(message, message_id, is_agent=agent is not None):
            yield event if agent is None else event._replace(agent=agent, ends=False)

    def _of(self, message: m.Message, message_id: str, *, is_agent: bool) -> Iterator[WrittenEvent]:
        match message:
            case m.SessionStarted() if is_agent:
                started = {"toolCallId": message.parent_call_id, "model": message.model}
                yield WrittenEvent(0.0, "subagent.started", started)
            case m.Prompt():
                name = f"{message_id}-agent" if is_agent else message_id
                prompt = {"content": message.text, "messageId": name, "delivery": "idle"}
                yield WrittenEvent(0.0, "user.message", prompt)
            case m.Text():
                name = message.item_id or message.message_id or self._made_up()
                said: dict[str, Any] = {"messageId": name, "content": message.text}
                said["toolRequests"] = []
                yield WrittenEvent(0.0, "assistant.message", said)
            case m.Thinking():
                thought = {
                    "reasoningId": message.item_id or self._made_up(),
                    "content": message.text,
                }
                yield WrittenEvent(0.0, "assistant.reasoning", thought)
            case m.ToolCall():
                request = request_of(message)
                asked = {
                    "messageId": self._made_up(),
                    "content": "",
                    "toolRequests": [{**request, "type": "function"}],
                }
                yield WrittenEvent(0.0, "assistant.message", asked)
                started = {**request, "toolName": request["name"]}
                started.pop("name")
                yield WrittenEvent(0.0, "tool.execution_start", started)
            case m.ToolResult():
                yield WrittenEvent(0.0, "tool.execution_complete", _result(message))
            case m.Delta():
                yield from _delta(message)
            case m.UsageReport() if message.last is not None:
                yield WrittenEvent(0.0, "assistant.usage", self._usage(message), True)
            case m.ApprovalRequested():
                yield _approval(message)
            case m.Notice():
                kind = "session.info" if message.level == "info" else "session.warning"
                yield WrittenEvent(0.0, kind, {"infoType": "notification", "message": message.text})
            case m.Compacted():
                done = {"success": True, "summaryContent": message.summary}
                yield WrittenEvent(0.0, "session.compaction_complete", done)
            case m.Context():
                context = {"role": message.role, "content": message.text}
                yield WrittenEvent(0.0, "system.message", context)
            case m.TurnEnded():
                yield from end_of(message, is_agent=is_agent)
            case _:
                return

    def _usage(self, message: m.UsageReport) -> dict[str, Any]:
        assert message.last is not None
        last = message.last
        return {
            "model": message.model or "recorded",
            "inputTokens": last.input_tokens,
            "outputTokens": last.output_tokens,
            "cacheReadTokens": last.cached_input_tokens,
            "cacheWriteTokens": last.cache_write_input_tokens,
            "reasoningTokens": last.reasoning_output_tokens,
            "apiCallId": message.response_id or self._made_up(),
        }

    def _made_up(self) -> str:
        self._number += 1
        return made_up_id(self._number)


def end_of(message: m.TurnEnded, *, is_agent: bool) -> Iterator[WrittenEvent]:
    """How a turn ends."""
    if is_agent:
        if message.outcome == "failed":
            why = message.error.message if message.error else "the sub-agent failed"
            yield WrittenEvent(0.0, "subagent.failed", {"error": why})
        else:
            cancelled = {"cancelled": True} if message.outcome == "interrupted" else {}
            yield WrittenEvent(0.0, "subagent.completed", cancelled)
        return
    if message.outcome == "failed":
        error = message.error
        data = {
            "errorType": (error.native if error else None) or "query",
            "message": error.message if error else "the turn failed",
        }
        yield WrittenEvent(0.0, "session.error", data)
    aborted = {"aborted": True} if message.outcome == "interrupted" else {}
    if aborted:
        yield WrittenEvent(0.0, "abort", {"reason": "user_initiated"})
    yield WrittenEvent(0.0, "assistant.idle", aborted, True)
    yield WrittenEvent(0.0, "session.idle", {**aborted, "mode": "interactive"}, True, ends=True)


def _result(message: m.ToolResult) -> dict[str, Any]:
    code = message.exit_code
    data: dict[str, Any] = {
        "toolCallId": message.call_id,
        "success": not message.is_error or code not in (None, 0),
        "result": {"content": message.output},
    }
    if code is not None:
        data["shellExecution"] = {"exitCode": code}
    if message.status == "declined":
        data |= {"success": False, "error": {"message": message.output, "code": "denied"}}
    elif not data["success"]:
        data["error"] = {"message": message.output, "code": "failure"}
    return data


def _delta(message: m.Delta) -> Iterator[WrittenEvent]:
    name, text = message.message_id, message.text
    match message.of:
        case "text":
            data = {"messageId": name, "deltaContent": text}
            yield WrittenEvent(0.0, "assistant.message_delta", data, True)
        case "thinking":
            data = {"reasoningId": name, "deltaContent": text}
            yield WrittenEvent(0.0, "assistant.reasoning_delta", data, True)
        case "output":
            data = {"toolCallId": name, "stream": "stdout", "text": text}
            yield WrittenEvent(0.0, "tool.shell_output", data, True)
        case _:
            return


def _approval(message: m.ApprovalRequested) -> WrittenEvent:
    request: dict[str, Any] = {"toolCallId": message.detail.get("call_id")}
    match message.kind:
        case "command":
            command = message.command or message.summary
            request |= {"kind": "shell", "fullCommandText": command, "commands": []}
        case "edit":
            request |= {"kind": "write", "fileName": message.summary, "diff": ""}
        case _:
            request |= {"kind": "custom-tool", "toolName": message.tool or message.summary}
    data = {"requestId": message.approval_id, "permissionRequest": request}
    return WrittenEvent(0.0, "permission.requested", data, asks=message.approval_id)


def made_up_id(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-000000000000"
