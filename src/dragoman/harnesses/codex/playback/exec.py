"""Writing ``codex exec --json`` as 0.166 prints it, from messages of any dialect.

What that program never prints is not printed here either: prompts, context, diffs, approvals, deltas,
and the calls that :mod:`limits` names. A tool it has no item for is a ``dynamic_tool_call``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from dragoman.harnesses.codex.playback.items import (
    call_item,
    changes_in,
    command_of,
    server_and_tool,
    text_blocks,
)
from dragoman.harnesses.codex.playback.shapes import exec_usage
from dragoman.harnesses.codex.values.loose import snake_case
from dragoman.harnesses.contract.playback import TimedLine, TimedMessage
from dragoman.model import tools
from dragoman.model.messages import (
    Message,
    Notice,
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

_UNTOLD: Final = frozenset(
    (tools.TODO_WRITE, tools.TOOL_SEARCH, tools.BASH_OUTPUT, tools.READ, "image_generation")
)
_UNTOLD_FAMILIES: Final = ("create_goal", "update_goal", "get_goal", "clock.", "functions.")


def write_exec(timed: Iterable[TimedMessage]) -> Iterator[TimedLine]:
    """The lines of a run."""
    writer = _Writer()
    waited = 0.0
    for after, message in timed:
        waited += after
        for event in writer.events(message):
            yield TimedLine(waited, msgspec.json.encode(event))
            waited = 0.0
    for event in writer.end():
        yield TimedLine(waited, msgspec.json.encode(event))
        waited = 0.0


class _Writer:
    def __init__(self) -> None:
        self._session: str | None = None
        self._is_begun = False
        self._in_turn = False
        self._items = 0
        self._calls: dict[str, tuple[str, ToolCall]] = {}
        self._plan: tuple[str, dict[str, Any]] | None = None
        self._spent: Usage | None = None
        """The usage of the turns so far, as far as it is known."""
        self._total: Usage | None = None

    def events(self, message: Message) -> Iterator[dict[str, Any]]:
        if not self._is_begun:
            self._session, self._is_begun = message.session_id, True
            yield {"type": "thread.started", "thread_id": message.session_id}
        elif message.session_id not in (self._session, None):
            return  # a sub-agent's: the program prints only its own session
        if isinstance(message, TurnEnded):
            yield from self._ended(message)
            return
        said = self._said(message)
        if said is not None and not self._in_turn:
            self._in_turn = True
            yield {"type": "turn.started"}
        if isinstance(message, TurnStarted) and not self._in_turn:
            self._in_turn = True
            yield {"type": "turn.started"}
        if said is not None:
            yield said

    def end(self) -> Iterator[dict[str, Any]]:
        if self._plan is not None:
            yield self._close_plan()

    def _said(self, message: Message) -> dict[str, Any] | None:
        match message:
            case Text(text=text):
                return self._whole({"type": "agent_message", "text": text})
            case Thinking(text=text):
                return self._whole({"type": "reasoning", "text": text})
            case ToolCall() if _is_told(message):
                item_id = self._next()
                self._calls[message.call_id] = (item_id, message)
                return _event("started", item_id, _item(message, None))
            case ToolResult() if message.status != "abandoned":
                item_id, call = self._calls.pop(message.call_id, (None, None))
                if item_id is None or call is None:
                    return None
                return _event("completed", item_id, _item(call, message))
            case Plan():
                return self._planned(message)
            case Notice(will_retry=True, text=text):
                return {"type": "error", "message": text}
            case Notice(level="warning" | "error", text=text) if self._in_turn:
                return self._whole({"type": "error", "message": text})
            case UsageReport():
                self._total = message.total or self._total
                return None
            case SessionStarted():
                return None
            case _:
                return None

    def _whole(self, item: dict[str, Any]) -> dict[str, Any]:
        return _event("completed", self._next(), item)

    def _planned(self, plan: Plan) -> dict[str, Any]:
        steps = [
            {"text": step.text, "completed": step.status == "completed"} for step in plan.steps
        ]
        is_new = self._plan is None
        item_id = self._next() if self._plan is None else self._plan[0]
        self._plan = (item_id, {"type": "todo_list", "items": steps})
        return _event("started" if is_new else "updated", *self._plan)

    def _close_plan(self) -> dict[str, Any]:
        assert self._plan is not None
        event = _event("completed", *self._plan)
        self._plan = None
        return event

    def _ended(self, ended: TurnEnded) -> Iterator[dict[str, Any]]:
        if not self._in_turn:
            yield {"type": "turn.started"}
        yield from self.end()
        self._in_turn = False
        if ended.outcome == "completed":
            # The usage of a turn that was cut off is never reported, so it must not show in the next one.
            self._spent = (ended.usage or Usage()) + self._spent if self._spent else ended.usage
            yield {"type": "turn.completed", "usage": exec_usage(self._spent or self._total)}
        elif ended.outcome == "failed":
            text = ended.error.message if ended.error else "the turn failed"
            yield {"type": "error", "message": text}
            yield {"type": "turn.failed", "error": {"message": text}}

    def _next(self) -> str:
        self._items += 1
        return f"item_{self._items - 1}"


def _is_told(call: ToolCall) -> bool:
    return call.tool not in _UNTOLD and not call.tool.startswith(_UNTOLD_FAMILIES)


def _event(kind: str, item_id: str, item: dict[str, Any]) -> dict[str, Any]:
    return {"type": f"item.{kind}", "item": {"id": item_id, **item}}


def _item(call: ToolCall, result: ToolResult | None) -> dict[str, Any]:
    status = "in_progress" if result is None else "failed" if result.is_error else "completed"
    if result is not None and result.status == "declined":
        status = "declined"
    if call.tool == tools.BASH:
        return {
            "type": "command_execution",
            "command": command_of(call),
            "aggregated_output": result.output if result else "",
            "exit_code": result.exit_code if result else None,
            "status": status,
        }
    if call.tool in (tools.EDIT, tools.WRITE):
        changes = [{"path": each["path"], "kind": each["kind"]} for each in changes_in(call)]
        return {"type": "file_change", "changes": changes, "status": status}
    if call.tool.startswith("mcp__"):
        server, tool = server_and_tool(call.tool)
        return {
            "type": "mcp_tool_call",
            "server": server,
            "tool": tool,
            "arguments": call.input,
            "result": result
            and {"content": text_blocks(result.output), "structured_content": None},
            "error": None,
            "status": status,
        }
    return _spelled(call_item(call, result, call.session_id or "", "") or {})


def _spelled(item: dict[str, Any]) -> dict[str, Any]:
    """An item of the app-server as this program spells it."""
    item.pop("id", None)
    kind = snake_case(str(item.pop("type")))
    kind = "collab_tool_call" if kind == "collab_agent_tool_call" else kind
    told = {snake_case(name): value for name, value in item.items()}
    for name in ("status", "tool"):
        if isinstance(word := told.get(name), str) and (name, kind) != (
            "tool",
            "dynamic_tool_call",
        ):
            told[name] = snake_case(word)
    return {"type": kind, **told}
