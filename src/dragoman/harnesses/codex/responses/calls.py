"""Reports the calls and outputs among response items.

Some can only be emitted when a later row has come: a patch (an item will bring the real diff), a script
of code mode (its tools may be reported themselves), a command that was still running. Those are held,
and emitted under their own line.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.codex.responses import shapes
from dragoman.harnesses.codex.responses.messages import CHANNEL, ResponseMessages
from dragoman.harnesses.codex.tools.agents import answered
from dragoman.harnesses.codex.tools.calls import (
    CODE_MODE,
    NativeCall,
    custom_call,
    function_call,
    plain_script,
    plan_steps,
    shell_call,
)
from dragoman.harnesses.codex.tools.outputs import Cleaned, clean, clean_mcp, finished
from dragoman.harnesses.codex.tools.patches import directory
from dragoman.model.tools import BASH, BASH_OUTPUT, EDIT, TODO_WRITE, WRITE

_output = msgspec.json.Decoder()


class _HeldCall(NamedTuple):
    line: int
    at: datetime | None
    call: NativeCall | str
    """The call, or the patch that it applies."""
    results_before: int


class ResponseCalls(ResponseMessages):
    """The calls among the response items of one session."""

    def __init__(self, out: Output, session: SessionAssembler, *, alone: bool) -> None:
        super().__init__(out, session, alone=alone)
        self.patches_follow = False
        """Whether patches are repeated, with the real diff, by an item or an end event."""
        self.spoken_items = 0
        """How many tool items or end events have been emitted: separates scripts that called tools from
        those that did not."""
        self._calls: dict[str, NativeCall] = {}
        self._held_calls: dict[str, _HeldCall] = {}
        self.pictures = 0
        """How many pictures the agent has asked to see that have not been put before the model yet."""
        self.running: dict[str, tuple[str, str]] = {}
        """Commands that go on after their call: that call, and what they have put out so far."""

    def function_call(self, item: shapes.FunctionCallItem) -> None:
        if item.name == "exec_command" and not item.namespace:
            script = plain_script(item.arguments)
            if script is not None:
                if self.announced:
                    self.tell_announced()
                self._session.call(item.call_id, BASH, "exec_command", {"command": script})
                return
        call = function_call(item.name, item.namespace, item.arguments, self._session.cwd)
        self._call(
            item.call_id,
            call,
            wrapper=call.tool == "wait" and item.namespace in (None, "functions"),
        )

    def custom_call(self, item: shapes.CustomCallItem) -> None:
        if item.name == "apply_patch" and self.patches_follow:
            # Most likely an item brings the real diff: read the patch only if none does.
            out = self._out
            if self.announced:
                self.tell_announced()
            if item.call_id in self._held_calls:
                self._session.duplicate("tool call: emitted before")
                return
            self._held_calls[item.call_id] = _HeldCall(out.line, out.at, item.input, 0)
            return
        call = custom_call(item.name, item.input, self._session.cwd)
        self._call(item.call_id, call, wrapper=item.name == "exec")

    def local_shell(self, item: shapes.LocalShellItem) -> None:
        cwd = directory(item.action.working_directory, self._session.cwd)
        call = shell_call("local_shell_call", item.action.command, cwd)
        self._call(item.call_id or item.id or f"line-{self._out.line}", call)

    def _call(self, call_id: str, call: NativeCall, *, wrapper: bool = False) -> None:
        if self.announced:
            self.tell_announced()
        if call_id in self._held_calls:
            self._session.duplicate("tool call: emitted before")
            return
        self._calls[call_id] = call
        if wrapper or (self.patches_follow and call.tool in (EDIT, WRITE)):
            out = self._out
            self._held_calls[call_id] = _HeldCall(out.line, out.at, call, self.spoken_items)
        else:
            self._session.call(call_id, call.tool, call.native_tool, call.input)

    def is_picture_held(self) -> bool:
        """Whether a picture that the agent asked to see waits for the next row."""
        held = self.held_text
        return self.pictures > 0 and held is not None and bool(held.images) and not held.text

    def is_held(self, call_id: str) -> bool:
        return call_id in self._held_calls

    def release(
        self, call_id: str, tool: str | None = None, input: dict[str, Any] | None = None
    ) -> None:
        """Report a held call now, with what a better source knows about it, under its own line."""
        held = self._held_calls.pop(call_id, None)
        if held is None:
            return
        out, call = self._out, held.call
        if isinstance(call, str):
            if tool is not None and input is not None:
                call = NativeCall(tool, "apply_patch", input)
            else:
                call = custom_call("apply_patch", call, self._session.cwd)
        now = (out.line, out.at)
        out.line, out.at = held.line, held.at
        self._session.call(
            call_id, tool or call.tool, call.native_tool, call.input if input is None else input
        )
        out.line, out.at = now

    def release_all(self) -> None:
        """The turn is over, or the stream: what is still held will not become any clearer."""
        self.settle()
        self.tell_announced()
        for call_id in list(self._held_calls):
            self.release(call_id)

    def end_turn(self) -> None:
        self.release_all()
        self._calls.clear()
        self.pictures = 0

    def raw_output(self, item: shapes.RawFunctionOutputItem) -> None:
        if item.call_id is not None and self._session.calls.is_closed(item.call_id):
            self._calls.pop(item.call_id, None)
            self._session.duplicate("tool result: emitted before")
            return
        output = _output.decode(item.output)
        self.output(shapes.FunctionOutputItem(call_id=item.call_id, output=output))

    def output(self, item: shapes.FunctionOutputItem) -> None:
        call_id = item.call_id or f"line-{self._out.line}"
        call = self._calls.pop(call_id, None)
        session = self._session
        if session.calls.is_closed(call_id):
            session.duplicate("tool result: emitted before")
            return
        if call is None and call_id in self._held_calls:
            call = NativeCall(EDIT, "apply_patch", {})
        if call is None:
            done = finished(item.output) if isinstance(item.output, str) else None
            if done is not None:
                text, code, took = done
                session.result(call_id, text, is_error=code != 0, exit_code=code, duration_ms=took)
                return
            cleaned = clean(item.output)
            if cleaned.running is not None and session.calls.is_open(call_id):
                self._keeps_running(call_id, cleaned)
                return
            session.result(
                call_id,
                cleaned.text,
                is_error=cleaned.is_error,
                exit_code=cleaned.exit_code,
                duration_ms=cleaned.duration_ms,
                status=cleaned.status,
            )
            return
        held = self._held_calls.get(call_id)
        cleaned = clean_mcp(item.output) if call.free_form else clean(item.output)
        if held is not None:
            tools_spoke = self.spoken_items > held.results_before
            if call.native_tool in CODE_MODE and tools_spoke and not cleaned.is_error:
                del self._held_calls[call_id]
                self._tell_script(held, call, cleaned.text)
                return
            self.release(call_id)
        self._result(call_id, call, cleaned)

    def _tell_script(self, held: _HeldCall, call: NativeCall, output: str) -> None:
        """A script whose tools are reported themselves: it and its output concern only the model."""
        out, session = self._out, self._session
        now = (out.line, out.at)
        out.line, out.at = held.line, held.at
        session.context("assistant", str(call.input.get("script", call.input)))
        out.line, out.at = now
        if output:
            session.context("tool", output)
        else:
            session.duplicate("code mode: its tools speak for themselves")

    def _keeps_running(self, call_id: str, cleaned: Cleaned) -> None:
        self.running[cleaned.running or ""] = (call_id, cleaned.text)
        self._session.delta(CHANNEL, "output", cleaned.text, call_id)

    def _result(self, call_id: str, call: NativeCall, cleaned: Cleaned) -> None:
        session = self._session
        if call.tool == BASH_OUTPUT:
            self._went_on(str(call.input.get("session_id")), cleaned)
        elif cleaned.running is not None:
            self._keeps_running(call_id, cleaned)
            return
        elif call.tool == TODO_WRITE and not cleaned.is_error:
            steps, explanation = plan_steps(
                {
                    "plan": [
                        {"step": todo["content"], "status": todo["status"]}
                        for todo in call.input.get("todos", [])
                    ],
                    "explanation": call.input.get("explanation"),
                }
            )
            session.plan(steps, explanation)
        is_edit = call.tool in (EDIT, WRITE)
        if is_edit and cleaned.text.startswith('{"output":'):
            cleaned = clean(cleaned.text)  # 0.120 wraps a patch that a command applied twice
        text, agent_failed = answered(call.tool, cleaned.text)
        is_view = call.native_tool == "view_image" and not cleaned.is_error
        self.pictures += is_view
        session.result(
            call_id,
            "" if is_view else text,
            is_error=cleaned.is_error or agent_failed,
            exit_code=None if is_edit else cleaned.exit_code,
            duration_ms=cleaned.duration_ms,
            status=cleaned.status,
        )

    def _went_on(self, terminal: str, cleaned: Cleaned) -> None:
        """More output of a command that was still running; perhaps its end."""
        started = self.running.get(terminal)
        if started is None or self._session.calls.is_closed(started[0]):
            return
        call_id, text = started[0], started[1] + cleaned.text
        if cleaned.exit_code is None:
            self.running[terminal] = (call_id, text)
            self._session.delta(CHANNEL, "output", cleaned.text, call_id)
        elif not self.commands_follow:
            self._session.result(
                call_id, text, is_error=bool(cleaned.exit_code), exit_code=cleaned.exit_code
            )
