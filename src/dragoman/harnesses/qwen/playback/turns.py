"""What Qwen Code prints while a turn of a recording goes by.

Each message becomes lines, or, where the agent asked before it went on, a control request that waits for its
answer. Ids are the recording's own; what has none gets one that is always the same. Of a sub-agent Qwen prints the
prompt and the calls; its answer is the result of the call that started it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from dragoman.harnesses.contract.playback import TimedMessage
from dragoman.harnesses.qwen.failures import CANCELLED
from dragoman.harnesses.qwen.playback.release import RELEASE
from dragoman.harnesses.qwen.session import HARNESS
from dragoman.harnesses.stream_json.playback.recorded import made_up_id
from dragoman.harnesses.stream_json.playback.steps import Line, Step
from dragoman.model.messages import (
    ApprovalRequested,
    Delta,
    Message,
    Notice,
    Prompt,
    SessionStarted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnError,
    TurnStarted,
    UsageReport,
)
from dragoman.model.tools import (
    ASK_USER,
    BASH,
    EDIT,
    GLOB,
    GREP,
    LS,
    READ,
    TASK,
    TODO_WRITE,
    WEB_FETCH,
    WEB_SEARCH,
    WRITE,
)
from dragoman.model.usage import Usage
from dragoman.wire.loose import as_dict, as_list, as_str

_NATIVE: Final = {
    BASH: "run_shell_command",
    READ: "read_file",
    WRITE: "write_file",
    EDIT: "edit",
    GLOB: "glob",
    GREP: "grep_search",
    LS: "list_directory",
    TASK: "agent",
    TODO_WRITE: "todo_write",
    WEB_FETCH: "web_fetch",
    WEB_SEARCH: "web_search",
    ASK_USER: "ask_user_question",
}
_NO_COUNTS: Final = {"input_tokens": 0, "output_tokens": 0}


@dataclass(slots=True)
class _QwenTalk:
    """One session of the turn: the main one, or a sub-agent's."""

    parent: str | None = None
    """The call that started it."""
    is_main: bool = True
    calls: dict[str, ToolCall] = field(default_factory=dict[str, ToolCall])
    said: int = 0
    in_pieces: bool = False
    """Whether pieces of a text are being printed."""
    last_text: str = ""


class QwenTurnWriter:
    """Writes turns, one after the other."""

    def __init__(self, started: SessionStarted, own: str | None, session_id: str) -> None:
        self._started = started
        self._own = own
        self._session_id = session_id
        self._talks: dict[str | None, _QwenTalk] = {}
        self._spent = Usage()
        self._lines = 0
        self.mode = "default"

    def write(self, cues: Iterable[TimedMessage]) -> list[Step]:
        """The steps of one turn, from ``init`` to ``result``."""
        steps: list[Step] = []
        waited = 0.0
        for after, message in cues:
            waited += after
            talk = self._talk(message.session_id)
            if isinstance(message, UsageReport):
                self._spend(steps, message, talk)
            for line in self._lines_of(message, talk):
                steps.append(self._step(waited, line, message, talk))
                waited = 0.0
        return steps

    def init(self) -> Line:
        started = self._started
        is_own = started.harness == HARNESS and started.version is not None
        return {
            "type": "system",
            "subtype": "init",
            "uuid": self._session_id,
            "session_id": self._session_id,
            "cwd": started.cwd or "/",
            "tools": [],
            "mcp_servers": [],
            "model": started.model or "recorded",
            "permission_mode": self.mode,
            "slash_commands": [],
            "qwen_code_version": started.version if is_own else RELEASE,
            "agents": [],
        }

    def interruption(self) -> list[Line]:
        return [
            {**_result(call.call_id, f"[Operation Cancelled] Reason: {CANCELLED}", is_error=True)}
            for talk in self._talks.values()
            if talk.is_main
            for call in _taken(talk.calls)
        ]

    def result(self, ended: TurnEnded, text: str, number: int) -> Line:
        spent = self._spent
        usage = {
            "input_tokens": spent.input_tokens,
            "output_tokens": spent.output_tokens,
            "cache_read_input_tokens": spent.cached_input_tokens,
            "total_tokens": spent.input_tokens + spent.output_tokens,
        }
        line: Line = {
            "type": "result",
            "subtype": "success",
            "is_error": ended.outcome != "completed",
            "duration_ms": 1,
            "duration_api_ms": 0,
            "num_turns": 1,
            "usage": usage,
            "permission_denials": [],
        }
        if ended.outcome == "completed":
            return {**line, "result": text}
        message = CANCELLED if ended.outcome == "interrupted" else "the turn failed"
        if ended.error is not None:
            message = ended.error.message
        return {**line, "subtype": "error_during_execution", "error": {"message": message}}

    def _step(self, waited: float, line: Line, message: Message, talk: _QwenTalk) -> Step:
        asks = line["type"] == "control_request"
        if not asks:
            self._lines += 1
            name = made_up_id(self._session_id, "line", self._lines)
            line = {"uuid": name, "session_id": self._session_id, **line}
            if line["type"] in ("assistant", "user", "stream_event"):
                line["parent_tool_use_id"] = talk.parent
        return Step(waited, line, asks=asks, ends=talk.is_main and isinstance(message, TurnEnded))

    def _talk(self, session_id: str | None) -> _QwenTalk:
        name = self._own if session_id is None else session_id
        talk = self._talks.get(name)
        if talk is None:
            is_main = name == self._own
            parent = None if is_main else made_up_id(self._session_id, "call", name)
            talk = self._talks[name] = _QwenTalk(parent, is_main)
        return talk

    def _spend(self, steps: list[Step], message: UsageReport, talk: _QwenTalk) -> None:
        """Put what a response has cost on its last line, if that can be found."""
        if message.last is None or not talk.is_main:
            return
        self._spent += message.last
        counts = {
            "input_tokens": message.last.input_tokens,
            "output_tokens": message.last.output_tokens,
            "cache_read_input_tokens": message.last.cached_input_tokens,
            "total_tokens": message.last.input_tokens + message.last.output_tokens,
        }
        for step in reversed(steps):
            if step.line["type"] == "assistant" and step.line["parent_tool_use_id"] is None:
                step.line["message"]["usage"] = counts
                return

    def _lines_of(self, message: Message, talk: _QwenTalk) -> Iterator[Line]:
        write = _WRITE.get(type(message))
        if write is not None:
            yield from write(self, message, talk)

    def _session(self, message: SessionStarted, talk: _QwenTalk) -> Iterator[Line]:
        if not talk.is_main:
            talk.parent = message.parent_call_id or talk.parent
        yield from ()

    def _turn_started(self, message: TurnStarted, talk: _QwenTalk) -> Iterator[Line]:
        if talk.is_main:
            talk.last_text = ""
            yield self.init()

    def _turn_ended(self, message: TurnEnded, talk: _QwenTalk) -> Iterator[Line]:
        if not talk.is_main:
            return
        error = message.error
        if message.outcome == "failed" and error is not None:
            yield self._assistant(talk, {"type": "text", "text": f"[API Error: {error.message}]"})
            said = TurnError(error.kind, f"[API Error: {error.message}]", error.retryable)
            ended = TurnEnded(outcome="failed", error=said)
            yield self.result(ended, talk.last_text, 0)
        else:
            yield self.result(message, talk.last_text, 0)

    def _prompt(self, message: Prompt, talk: _QwenTalk) -> Iterator[Line]:
        if not talk.is_main:  # the host's own prompts come from the host
            yield _user([{"type": "text", "text": message.text}])

    def _delta(self, message: Delta, talk: _QwenTalk) -> Iterator[Line]:
        if message.of != "text" or not talk.is_main:
            return
        if not talk.in_pieces:
            talk.in_pieces = True
            block = {"type": "text", "text": ""}
            yield _event({"type": "content_block_start", "index": 0, "content_block": block})
        piece = {"type": "text_delta", "text": message.text}
        yield _event({"type": "content_block_delta", "index": 0, "delta": piece})

    def _text(self, message: Text, talk: _QwenTalk) -> Iterator[Line]:
        if not talk.is_main:
            return
        talk.last_text = message.text
        if talk.in_pieces:
            talk.in_pieces = False
            yield _event({"type": "content_block_stop", "index": 0})
        yield self._assistant(talk, {"type": "text", "text": message.text})

    def _thinking(self, message: Thinking, talk: _QwenTalk) -> Iterator[Line]:
        if talk.is_main:
            block = {"type": "thinking", "thinking": message.text, "signature": ""}
            yield self._assistant(talk, block)

    def _call(self, message: ToolCall, talk: _QwenTalk) -> Iterator[Line]:
        talk.calls[message.call_id] = message
        name, given = self._native(message), message.input
        block = {"type": "tool_use", "id": message.call_id, "name": name, "input": given}
        yield self._assistant(talk, block)

    def _native(self, call: ToolCall) -> str:
        """The name that Qwen itself uses: its own, or the one that fits."""
        is_own = self._started.harness == HARNESS
        return call.native_tool if is_own else _NATIVE.get(call.tool, call.tool)

    def _tool_result(self, message: ToolResult, talk: _QwenTalk) -> Iterator[Line]:
        call = talk.calls.pop(message.call_id, None)
        if call is None or message.status == "abandoned":
            return
        output = message.output
        if message.status == "declined" and not output.startswith("[Operation Cancelled]"):
            output = f"[Operation Cancelled] Reason: {output}"
        elif call.tool == BASH and message.exit_code:
            command = as_str(call.input.get("command")) or ""
            shown = f"Command: {command}\nDirectory: (root)\nOutput: {output or '(empty)'}"
            output = f"{shown}\nError: (none)\nExit Code: {message.exit_code}\nSignal: (none)"
        yield _result(message.call_id, output, is_error=message.is_error)

    def _asked(self, message: ApprovalRequested, talk: _QwenTalk) -> Iterator[Line]:
        detail = message.detail
        call_id = as_str(detail.get("call_id")) or next(reversed(talk.calls), None)
        call = talk.calls.get(call_id or "")
        given: Any = call.input if call is not None else as_dict(detail.get("input"))
        tool = self._native(call) if call is not None else _NATIVE.get(message.tool or "", "tool")
        if message.kind == "question":
            tool, given = _NATIVE[ASK_USER], {"questions": as_list(detail.get("questions"))}
        elif message.kind == "command" and "command" not in as_dict(given):
            tool, given = _NATIVE[BASH], {"command": message.command or message.summary}
        request = {
            "subtype": "can_use_tool",
            "tool_name": tool,
            "tool_use_id": call_id,
            "input": given,
            "permission_suggestions": as_list(detail.get("suggestions")),
            "blocked_path": None,
        }
        yield {"type": "control_request", "request_id": message.approval_id, "request": request}

    def _notice(self, message: Notice, talk: _QwenTalk) -> Iterator[Line]:
        if message.will_retry:
            data = {"reason": "retry", "discardedToolCalls": 0, "preserveText": False}
            yield {"type": "system", "subtype": "retry", "data": data}
        elif message.level != "info":
            yield {"type": "system", "subtype": "notice", "data": {"message": message.text}}

    def _assistant(self, talk: _QwenTalk, block: Line) -> Line:
        talk.said += 1
        name = made_up_id(self._session_id, talk.parent or "main", "response", talk.said)
        message = {
            "id": name,
            "type": "message",
            "role": "assistant",
            "model": self._started.model or "recorded",
            "content": [block],
            "stop_reason": "tool_use" if block["type"] == "tool_use" else None,
            "usage": dict(_NO_COUNTS),
        }
        return {"type": "assistant", "uuid": name, "message": message}


def _taken(calls: dict[str, ToolCall]) -> list[ToolCall]:
    taken = [*calls.values()]
    calls.clear()
    return taken


def _user(content: Any) -> Line:
    return {"type": "user", "message": {"role": "user", "content": content}}


def _result(call_id: str, output: str, *, is_error: bool) -> Line:
    block = {
        "type": "tool_result",
        "tool_use_id": call_id,
        "is_error": is_error,
        "content": output,
    }
    return _user([block])


def _event(event: Line) -> Line:
    return {"type": "stream_event", "event": event}


_Write: TypeAlias = Callable[[QwenTurnWriter, Any, _QwenTalk], Iterator[Line]]
_WRITE: Final[dict[type, _Write]] = {
    SessionStarted: QwenTurnWriter._session,
    TurnStarted: QwenTurnWriter._turn_started,
    TurnEnded: QwenTurnWriter._turn_ended,
    Prompt: QwenTurnWriter._prompt,
    Delta: QwenTurnWriter._delta,
    Text: QwenTurnWriter._text,
    Thinking: QwenTurnWriter._thinking,
    ToolCall: QwenTurnWriter._call,
    ToolResult: QwenTurnWriter._tool_result,
    ApprovalRequested: QwenTurnWriter._asked,
    Notice: QwenTurnWriter._notice,
}
