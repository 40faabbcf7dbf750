"""What Claude prints while a turn of a recording goes by.

Each message becomes lines, or, where the agent asked before it went on, a control request that waits for its
answer. Ids are the recording's own; what has none gets one that is always the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from dragoman.harnesses.claude.playback.shapes import (
    HARNESS,
    init_line,
    native_tool,
    result_line,
    wire_usage,
)
from dragoman.harnesses.contract.playback import TimedMessage
from dragoman.harnesses.stream_json.playback.recorded import made_up_id
from dragoman.harnesses.stream_json.playback.steps import Line, Step
from dragoman.model.messages import (
    ApprovalRequested,
    Compacted,
    Context,
    Delta,
    Message,
    Notice,
    Plan,
    Prompt,
    SessionStarted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UsageReport,
)
from dragoman.wire.loose import as_dict, as_list, as_str

_QUESTION: Final = "AskUserQuestion"
_ENDS: Final = {"completed": "completed", "failed": "failed", "interrupted": "stopped"}
_PLAN_STEPS: Final = "TodoWrite"


@dataclass(slots=True)
class _ClaudeTalk:
    """One session of the turn: the main one, or a helper's."""

    place: Line
    """What its lines have besides their own fields."""
    calls: dict[str, ToolCall] = field(default_factory=dict[str, ToolCall])
    responses: int = 0
    streamed: str | None = None
    """The response whose pieces are being printed."""
    last_text: str = ""


class ClaudeTurnWriter:
    """Writes turns, one after the other."""

    def __init__(self, started: SessionStarted, own: str | None, session_id: str) -> None:
        self._started = started
        self._own = own
        self._session_id = session_id
        self._talks: dict[str | None, _ClaudeTalk] = {}
        self._cost = 0.0
        self._results = 0
        self._lines = 0
        self.mode = "default"

    def write(self, cues: Iterable[TimedMessage]) -> list[Step]:
        """The steps of one turn, from ``init`` to ``result`` and what comes late."""
        steps: list[Step] = []
        waited = 0.0
        for after, message in cues:
            waited += after
            talk = self._talk(message.session_id)
            for line in self._lines_of(message, talk):
                steps.append(self._step(waited, line, message, talk))
                waited = 0.0
        return steps

    def init(self) -> Line:
        return init_line(self._started, self._session_id, self.mode)

    def interruption(self) -> list[Line]:
        return [interruption_line()]

    def result(self, ended: TurnEnded, text: str, number: int) -> Line:
        return result_line(ended, text, 0.0, number)

    def _step(self, waited: float, line: Line, message: Message, talk: _ClaudeTalk) -> Step:
        asks = line["type"] == "control_request"
        is_main = not talk.place.get("agent_id")
        if not asks:
            self._lines += 1
            line = {**line, "session_id": self._session_id, **talk.place}
            line["uuid"] = made_up_id(self._session_id, "line", self._lines)
            if message.at is not None and line["type"] in ("assistant", "user"):
                line["timestamp"] = message.at.isoformat().replace("+00:00", "Z")
        return Step(
            waited,
            line,
            asks=asks,
            joins=is_main and isinstance(message, ToolResult),
            ends=is_main and isinstance(message, TurnEnded),
        )

    def _talk(self, session_id: str | None) -> _ClaudeTalk:
        name = self._own if session_id is None else session_id
        talk = self._talks.get(name)
        if talk is None:
            is_main = name == self._own
            place: Line = {} if is_main else {"agent_id": name, "parent_tool_use_id": None}
            talk = self._talks[name] = _ClaudeTalk(place)
        return talk

    def _lines_of(self, message: Message, talk: _ClaudeTalk) -> Iterator[Line]:
        write = _WRITE.get(type(message))
        if write is not None:
            yield from write(self, message, talk)

    def _session(self, message: SessionStarted, talk: _ClaudeTalk) -> Iterator[Line]:
        if "agent_id" not in talk.place:
            return
        talk.place["parent_tool_use_id"] = message.parent_call_id
        yield {
            "type": "system",
            "subtype": "task_started",
            "task_id": message.session_id,
            "tool_use_id": message.parent_call_id,
            "task_type": "local_agent",
            "description": "",
        }

    def _turn_started(self, message: TurnStarted, talk: _ClaudeTalk) -> Iterator[Line]:
        if "agent_id" not in talk.place:
            talk.last_text = ""
            yield self.init()

    def _turn_ended(self, message: TurnEnded, talk: _ClaudeTalk) -> Iterator[Line]:
        if "agent_id" in talk.place:
            yield {
                "type": "system",
                "subtype": "task_notification",
                "task_id": talk.place["agent_id"],
                "tool_use_id": talk.place["parent_tool_use_id"],
                "status": _ENDS[message.outcome],
                "summary": message.error.message if message.error else "",
            }
            return
        if message.outcome == "failed" and message.error is not None:
            yield from self._api_error(message)
        elif message.outcome == "interrupted":
            yield interruption_line()
        yield result_line(message, talk.last_text, self._cost, self._results)
        self._results += 1

    def _api_error(self, message: TurnEnded) -> Iterator[Line]:
        error = message.error
        assert error is not None
        content = [{"type": "text", "text": error.message}]
        response = {"id": made_up_id("error"), "role": "assistant", "model": "<synthetic>"}
        yield {
            "type": "assistant",
            "message": {**response, "content": content, "usage": wire_usage(None)},
            "is_api_error_message": True,
            "error": error.native or "unknown",
            "api_error_status": 500 if error.retryable else 400,
        }

    def _prompt(self, message: Prompt, talk: _ClaudeTalk) -> Iterator[Line]:
        if "agent_id" in talk.place:  # the host's own prompts come from the host
            yield _user([{"type": "text", "text": message.text}])

    def _context(self, message: Context, talk: _ClaudeTalk) -> Iterator[Line]:
        yield {**_user(message.text), "isSynthetic": True}

    def _delta(self, message: Delta, talk: _ClaudeTalk) -> Iterator[Line]:
        if message.of not in ("text", "thinking"):
            return
        if talk.streamed is None:
            talk.streamed = message.message_id or self._response_id(talk)
            yield from self._begin_response(talk.streamed, message.of)
        piece = {"type": f"{message.of}_delta", message.of: message.text}
        yield _event({"type": "content_block_delta", "index": 0, "delta": piece})

    def _begin_response(self, response_id: str, of: str) -> Iterator[Line]:
        response = self._response(response_id, [])
        yield _event({"type": "message_start", "message": response})
        block = {"type": of, of: ""}
        yield _event({"type": "content_block_start", "index": 0, "content_block": block})

    def _text(self, message: Text, talk: _ClaudeTalk) -> Iterator[Line]:
        talk.last_text = message.text
        name = message.message_id
        yield from self._block(talk, name, {"type": "text", "text": message.text})

    def _thinking(self, message: Thinking, talk: _ClaudeTalk) -> Iterator[Line]:
        block = {"type": "thinking", "thinking": message.text, "signature": ""}
        yield from self._block(talk, None, block)

    def _block(self, talk: _ClaudeTalk, name: str | None, block: Line) -> Iterator[Line]:
        streamed, talk.streamed = talk.streamed, None
        response_id = streamed or name or self._response_id(talk)
        yield {"type": "assistant", "message": self._response(response_id, [block])}
        if streamed is not None:
            yield _event({"type": "content_block_stop", "index": 0})
            yield _event({"type": "message_stop"})

    def _call(self, message: ToolCall, talk: _ClaudeTalk) -> Iterator[Line]:
        talk.calls[message.call_id] = message
        is_ours = self._started.harness == HARNESS
        name = message.native_tool if is_ours else native_tool(message)
        block = {"type": "tool_use", "id": message.call_id, "name": name, "input": message.input}
        yield from self._block(talk, None, block)

    def _result(self, message: ToolResult, talk: _ClaudeTalk) -> Iterator[Line]:
        if message.call_id not in talk.calls or message.status == "abandoned":
            return
        del talk.calls[message.call_id]
        output, code = message.output, message.exit_code
        if code and not output.startswith("Exit code "):
            output = f"Exit code {code}\n{output}"
        block = {
            "type": "tool_result",
            "tool_use_id": message.call_id,
            "content": output,
            "is_error": message.is_error,
        }
        line = _user([block])
        if message.status == "declined":
            line["tool_result_meta"] = [
                {"id": message.call_id, "non_execution_kind": "permission-rule"}
            ]
        yield line

    def _plan(self, message: Plan, talk: _ClaudeTalk) -> Iterator[Line]:
        if self._started.harness == HARNESS:
            return  # its calls are in the recording
        self._lines += 1
        todos = [
            {"content": step.text, "status": step.status, "activeForm": step.text}
            for step in message.steps
        ]
        call_id = made_up_id(self._session_id, "plan", self._lines)
        call = ToolCall(
            call_id=call_id, tool=_PLAN_STEPS, native_tool=_PLAN_STEPS, input={"todos": todos}
        )
        yield from self._call(call, talk)
        yield from self._result(ToolResult(call_id=call_id, output="Todos updated."), talk)

    def _asked(self, message: ApprovalRequested, talk: _ClaudeTalk) -> Iterator[Line]:
        detail = message.detail
        request: Line
        if message.kind == "elicitation":
            request = {
                "subtype": "elicitation",
                "mcp_server_name": as_str(detail.get("server")) or "",
                "message": message.summary,
                "requested_schema": message.form,
                "mode": "url" if message.url else "form",
                "url": message.url,
            }
        else:
            request = self._permission(message, talk)
        name = message.approval_id
        yield {"type": "control_request", "request_id": name, "request": request}

    def _permission(self, message: ApprovalRequested, talk: _ClaudeTalk) -> Line:
        detail = message.detail
        call_id = as_str(detail.get("call_id")) or next(reversed(talk.calls), None)
        call = talk.calls.get(call_id or "")
        given: Any = call.input if call is not None else as_dict(detail.get("input"))
        tool = native_tool(call) if call is not None else message.tool or message.kind
        if message.kind == "question":
            tool, given = _QUESTION, {"questions": as_list(detail.get("questions"))}
        elif message.kind == "command" and "command" not in as_dict(given):
            tool, given = "Bash", {"command": message.command or message.summary}
        return {
            "subtype": "can_use_tool",
            "tool_name": tool,
            "display_name": tool,
            "input": given,
            "description": as_str(detail.get("reason")),
            "permission_suggestions": as_list(detail.get("suggestions")),
            "tool_use_id": call_id,
        }

    def _usage(self, message: UsageReport, talk: _ClaudeTalk) -> Iterator[Line]:
        self._cost = message.cost if message.cost is not None else self._cost
        yield from ()

    def _notice(self, message: Notice, talk: _ClaudeTalk) -> Iterator[Line]:
        if message.will_retry:
            retry = {"attempt": 1, "max_retries": 10, "retry_delay_ms": 0, "error_status": None}
            yield {"type": "system", "subtype": "api_retry", **retry, "error": message.text}
        elif message.level != "info":
            said = {"content": message.text, "level": message.level}
            yield {"type": "system", "subtype": "informational", **said}

    def _compacted(self, message: Compacted, talk: _ClaudeTalk) -> Iterator[Line]:
        metadata = {"trigger": "manual", "pre_tokens": 0}
        yield {"type": "system", "subtype": "compact_boundary", "compact_metadata": metadata}
        if message.summary is not None:
            yield {**_user(message.summary), "isSynthetic": True}

    def _response_id(self, talk: _ClaudeTalk) -> str:
        talk.responses += 1
        name = talk.place.get("agent_id", "main")
        return made_up_id(self._session_id, name, "response", talk.responses)

    def _response(self, response_id: str, content: list[Line]) -> Line:
        return {
            "id": response_id,
            "type": "message",
            "role": "assistant",
            "model": self._started.model or "recorded",
            "content": content,
            "stop_reason": None,
            "usage": wire_usage(None),
        }


def interruption_line() -> Line:
    return _user([{"type": "text", "text": "[Request interrupted by user]"}])


def _user(content: Any) -> Line:
    return {"type": "user", "message": {"role": "user", "content": content}}


def _event(event: Line) -> Line:
    return {"type": "stream_event", "event": event}


_Write: TypeAlias = Callable[[ClaudeTurnWriter, Any, _ClaudeTalk], Iterator[Line]]
_WRITE: Final[dict[type, _Write]] = {
    SessionStarted: ClaudeTurnWriter._session,
    TurnStarted: ClaudeTurnWriter._turn_started,
    TurnEnded: ClaudeTurnWriter._turn_ended,
    Prompt: ClaudeTurnWriter._prompt,
    Context: ClaudeTurnWriter._context,
    Delta: ClaudeTurnWriter._delta,
    Text: ClaudeTurnWriter._text,
    Thinking: ClaudeTurnWriter._thinking,
    ToolCall: ClaudeTurnWriter._call,
    ToolResult: ClaudeTurnWriter._result,
    Plan: ClaudeTurnWriter._plan,
    ApprovalRequested: ClaudeTurnWriter._asked,
    UsageReport: ClaudeTurnWriter._usage,
    Notice: ClaudeTurnWriter._notice,
    Compacted: ClaudeTurnWriter._compacted,
}
