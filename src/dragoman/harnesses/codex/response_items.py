"""Telling response items: the history that Codex keeps for the model.

| item | becomes |
|---|---|
| message, role user | prompt if an event or item says so, or nothing else could; otherwise context |
| message, role assistant | text, mostly the twin of an event or item |
| message, other roles; additional_tools | context |
| reasoning | thinking, mostly the twin of an event or item |
| function_call, custom_tool_call, local_shell_call, tool_search_call, web_search_call, image_generation_call | tool_call |
| …_output | tool_result, mostly the twin of an item or end event |
| agent_message | context: a letter between agents |
| ghost_snapshot | notice |
| compaction… | compacted |

Some rows can only be told when a later one has come: a user message (is it a prompt?), a patch (an
item will bring the real diff), a script of code mode (its tools may speak for themselves), a
command that was still running. Those are held, and told under their own line number. The other way
round, legacy rollouts announce texts and thoughts as events before the response item that has them
in their true order: those wait for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from dragoman.harnesses.codex import response_shapes as shapes
from dragoman.harnesses.codex.durations import milliseconds
from dragoman.harnesses.codex.items import phase_of
from dragoman.harnesses.codex.outputs import Cleaned, clean, clean_mcp
from dragoman.harnesses.codex.tools import (
    CODE_MODE,
    Call,
    custom_call,
    function_call,
    plain_script,
    plan_steps,
    shell_call,
    web_call,
)
from dragoman.harnesses.telling.output import Output
from dragoman.harnesses.telling.teller import Teller
from dragoman.model.messages import Phase
from dragoman.model.tools import BASH, BASH_OUTPUT, EDIT, TODO_WRITE, TOOL_SEARCH, WRITE

CHANNEL: Final = "response"

_INJECTED: Final = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|permissions instructions|skills_instructions"
    r"|turn_aborted|subagent_notification|user_shell_command|codex_internal_context|collaboration_mode"
    r"|multi_agent_\w+|hook_prompt|skill|app-context|model_switch|personality_spec|image name=)\b"
    r"|# AGENTS\.md instructions|Warning: )"
)
_CWD: Final = re.compile(r"<cwd>([^<]+)</cwd>|Current working directory: (\S+)")
_USER_SHELL: Final = re.compile(
    r"<user_shell_command>\s*<command>\n?(?P<command>.*?)\n?</command>\s*<result>\n?"
    r"Exit code: (?P<code>-?\d+)\nDuration: (?P<seconds>[\d.]+) seconds\nOutput:\n"
    r"(?P<output>.*?)\n?</result>",
    re.DOTALL,
)
_PROPOSED_PLAN: Final = re.compile(r"<proposed_plan>.*?</proposed_plan>\n?", re.DOTALL)


class _HeldText(NamedTuple):
    line: int
    at: datetime | None
    role: str
    text: str
    images: list[str]
    phase: Phase | None
    message_id: str | None


_Announced: TypeAlias = tuple[str, bool, int, datetime | None, Phase | None]
"""A text or a thought that an event told: itself, whether it is a text, its line, time and phase."""


class _HeldCall(NamedTuple):
    line: int
    at: datetime | None
    call: Call | str
    """The call, or the patch that it applies."""
    results_before: int


class ResponseItems:
    """The response items of one session."""

    def __init__(self, out: Output, teller: Teller, *, alone: bool) -> None:
        self._out = out
        self._teller = teller
        self.alone = alone
        """Whether nothing but response items is heard, so that they must speak for themselves."""
        self.patches_follow = False
        """Whether patches are told again, with the real diff, by an item or an end event."""
        self.commands_follow = False
        """Whether the end of a command is told by an item."""
        self.others_speak = False
        """Whether events or items of this session have been heard."""
        self.spoken_items = 0
        """How many tool items or end events have been told: tells scripts that called tools from
        those that did not."""
        self.nameless_searches: list[tuple[str, dict[str, Any]]] = []
        """Web searches that an event told, whose response items may come without their id."""
        self._calls: dict[str, Call] = {}
        self.held_text: _HeldText | None = None
        """A message that waits for the next row."""
        self._announced: list[_Announced] = []
        self._held_calls: dict[str, _HeldCall] = {}
        self._running: dict[str, tuple[str, str]] = {}

    def tell(self, item: shapes.AnyResponseItem) -> None:
        TELL[type(item)](self, item)

    # Messages.

    def announce(self, text: str, *, is_text: bool, phase: Phase | None = None) -> None:
        """An event told a text or a thought; the response item that has it will come."""
        out = self._out
        self._announced.append((text, is_text, out.line, out.at, phase))

    def _came(self, text: str, is_text: bool) -> _Announced | None:
        """A response item has come: whether, and how, it was announced."""
        for index, announced in enumerate(self._announced):
            if announced[0] == text and announced[1] is is_text:
                later = self._announced[index + 1 :]
                if index:
                    # Items come in the order of the events: what was announced before has none.
                    del self._announced[index:]
                    self.tell_announced()
                self._announced = later
                what = "text" if is_text else "thinking"
                self._out.twin_of_line(announced[2], f"{what}: the response item says it")
                return announced
        return None

    def tell_announced(self) -> None:
        """No response item will come for what was announced: tell it as it was."""
        if not self._announced:
            return
        out, now = self._out, (self._out.line, self._out.at)
        announced_now, self._announced = self._announced, []
        for text, is_text, line, at, phase in announced_now:
            out.line, out.at = line, at
            if is_text:
                self._teller.text("event", text, phase=phase)
            else:
                self._teller.thinking("event", [text])
        out.line, out.at = now

    def message(self, item: shapes.MessageItem) -> None:
        self.settle()
        role = item.role
        text = _text(item.content)
        if role == "assistant":
            shown = _PROPOSED_PLAN.sub("", text) if "<proposed_plan>" in text else text
            phase = phase_of(item.phase)
            announced = self._came(shown, True) if self._announced else None
            if announced is not None and shown:
                self._teller.say_text(shown, phase or announced[4], item.id)
            elif self.alone or self._teller.knows_text(CHANNEL, shown, item.id):
                self._teller.text(CHANNEL, shown, phase=phase, message_id=item.id)
            else:
                self.held_text = _HeldText(
                    self._out.line, self._out.at, role, shown, [], phase, item.id
                )
        elif role == "user":
            images = [
                part.image_url
                for part in item.content
                if isinstance(part, shapes.Part) and part.image_url
            ]
            self.held_text = _HeldText(self._out.line, self._out.at, role, text, images, None, None)
            if self.alone:
                self.settle()
        else:
            self._teller.context(role, text)

    def settle(
        self, *, prompt: str | None = None, summary: str | None = None, is_said: bool = False
    ) -> None:
        """Decide about a message that was held until the next row came.

        ``prompt``: the next row is the event or item of this prompt, which may say the same.
        ``summary``: the next row is a compaction with this summary, which may say the same.
        ``is_said``: the next row does say the same.
        """
        held = self.held_text
        if held is None:
            return
        self.held_text = None
        if is_said:
            self._out.twin_of_line(held.line, "context: the next row says it")
        elif held.role == "user" and prompt is not None and (held.text == prompt or held.images):
            self._out.twin_of_line(held.line, "prompt: the next row says it")
        elif summary is not None and held.role == "assistant" and summary.endswith(held.text):
            self._out.twin_of_line(held.line, "compaction: the next row says it")
        else:
            now = (self._out.line, self._out.at)
            self._out.line, self._out.at = held.line, held.at
            self._tell_text(held)
            self._out.line, self._out.at = now

    def _tell_text(self, held: _HeldText) -> None:
        teller = self._teller
        if held.role == "assistant" and not held.text:
            teller.twin("text: nothing is said")
        elif (
            held.role == "assistant"
            and self.others_speak
            and not teller.knows_text(CHANNEL, held.text, held.message_id)
        ):
            # Put there by a client, or for the model only: nobody else has told it.
            teller.context("assistant", held.text)
        elif held.role == "assistant":
            teller.text(CHANNEL, held.text, phase=held.phase, message_id=held.message_id)
        elif self._tell_user_shell(held.text):
            return
        elif self.others_speak or _INJECTED.match(held.text):
            if teller.cwd is None and (found := _CWD.search(held.text)):
                teller.know_facts(cwd=found[1] or found[2])
            teller.context("user", held.text)
        elif not held.text and teller.in_turn:
            teller.context("user", "[image]")  # an image that the agent asked to see
        else:
            teller.begin_turn()
            teller.prompt(CHANNEL, held.text, held.images)

    def _tell_user_shell(self, text: str) -> bool:
        """A command that the user ran by hand, which legacy rollouts only tell to the model."""
        found = _USER_SHELL.match(text)
        if found is None or self.commands_follow:
            return False
        call_id = f"line-{self._out.line}"
        self._teller.call(call_id, BASH, "user_shell", {"command": found["command"]})
        code = int(found["code"])
        self._teller.result(
            call_id,
            found["output"],
            is_error=bool(code),
            exit_code=code,
            duration_ms=milliseconds(f"{found['seconds']}s"),
        )
        return True

    def reasoning(self, item: shapes.ReasoningItem) -> None:
        parts = [part.text for part in item.summary]
        if item.content:
            parts += [part.text for part in item.content]
        if self._announced and all([self._came(part, False) for part in parts]) and parts:
            self._teller.say_thinking(parts)
        else:
            self._teller.thinking(CHANNEL, parts, item.id)

    # Calls.

    def function_call(self, item: shapes.FunctionCallItem) -> None:
        if item.name == "exec_command" and not item.namespace:
            script = plain_script(item.arguments)
            if script is not None:
                if self._announced:
                    self.tell_announced()
                self._teller.call(item.call_id, BASH, "exec_command", {"command": script})
                return
        call = function_call(item.name, item.namespace, item.arguments, self._teller.cwd)
        self._call(
            item.call_id,
            call,
            wrapper=item.name == "wait" and item.namespace in (None, "functions"),
        )

    def custom_call(self, item: shapes.CustomCallItem) -> None:
        if item.name == "apply_patch" and self.patches_follow:
            # Most likely an item brings the real diff: read the patch only if none does.
            out = self._out
            if self._announced:
                self.tell_announced()
            self._held_calls[item.call_id] = _HeldCall(out.line, out.at, item.input, 0)
            return
        call = custom_call(item.name, item.input, self._teller.cwd)
        self._call(item.call_id, call, wrapper=item.name == "exec")

    def local_shell(self, item: shapes.LocalShellItem) -> None:
        call = shell_call("local_shell_call", item.action.command, self._teller.cwd)
        self._call(item.call_id or item.id or f"line-{self._out.line}", call)

    def _call(self, call_id: str, call: Call, *, wrapper: bool = False) -> None:
        if self._announced:
            self.tell_announced()
        self._calls[call_id] = call
        if wrapper or (self.patches_follow and call.tool in (EDIT, WRITE)):
            out = self._out
            self._held_calls[call_id] = _HeldCall(out.line, out.at, call, self.spoken_items)
        else:
            self._teller.call(call_id, call.tool, call.native_tool, call.input)

    def release(
        self, call_id: str, tool: str | None = None, input: dict[str, Any] | None = None
    ) -> None:
        """Tell a held call now, with what a better source knows about it, under its own line."""
        held = self._held_calls.pop(call_id, None)
        if held is None:
            return
        out, call = self._out, held.call
        if isinstance(call, str):
            if tool is not None and input is not None:
                call = Call(tool, "apply_patch", input)
            else:
                call = custom_call("apply_patch", call, self._teller.cwd)
        now = (out.line, out.at)
        out.line, out.at = held.line, held.at
        self._teller.call(
            call_id, tool or call.tool, call.native_tool, call.input if input is None else input
        )
        out.line, out.at = now

    def release_all(self) -> None:
        """The turn is over, or the stream: what is still held will not be told any better."""
        self.settle()
        self.tell_announced()
        for call_id in list(self._held_calls):
            self.release(call_id)

    def end_turn(self) -> None:
        self.release_all()
        self.nameless_searches.clear()
        self._calls.clear()

    # Results.

    def raw_output(self, item: shapes.RawFunctionOutputItem) -> None:
        if item.call_id is not None and self._teller.calls.is_closed(item.call_id):
            self._calls.pop(item.call_id, None)
            self._teller.twin("tool result: told before")
            return
        output = _output.decode(item.output)
        self.output(shapes.FunctionOutputItem(call_id=item.call_id, output=output))

    def output(self, item: shapes.FunctionOutputItem) -> None:
        call_id = item.call_id or f"line-{self._out.line}"
        call = self._calls.pop(call_id, None)
        teller = self._teller
        if call is None and call_id in self._held_calls:
            call = Call(EDIT, "apply_patch", {})
        if call is None:
            cleaned = clean(item.output)
            if cleaned.running is not None and teller.calls.is_open(call_id):
                self._keeps_running(call_id, cleaned)
                return
            teller.result(
                call_id,
                cleaned.text,
                is_error=cleaned.is_error,
                exit_code=cleaned.exit_code,
                duration_ms=cleaned.duration_ms,
                status=cleaned.status,
            )
            return
        held = self._held_calls.get(call_id)
        if teller.calls.is_closed(call_id):
            teller.twin("tool result: told before")
            return
        cleaned = clean_mcp(item.output) if call.free_form else clean(item.output)
        if held is not None:
            tools_spoke = self.spoken_items > held.results_before
            if call.native_tool in CODE_MODE and tools_spoke and not cleaned.is_error:
                del self._held_calls[call_id]
                self._out.twin_of_line(held.line, "code mode: its tools speak for themselves")
                teller.twin("code mode: its tools speak for themselves")
                return
            self.release(call_id)
        self._result(call_id, call, cleaned)

    def _keeps_running(self, call_id: str, cleaned: Cleaned) -> None:
        self._running[cleaned.running or ""] = (call_id, cleaned.text)
        self._teller.delta(CHANNEL, "output", cleaned.text, call_id)

    def _result(self, call_id: str, call: Call, cleaned: Cleaned) -> None:
        teller = self._teller
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
            teller.plan(steps, explanation)
        is_edit = call.tool in (EDIT, WRITE)
        if is_edit and cleaned.text.startswith('{"output":'):
            cleaned = clean(cleaned.text)  # 0.120 wraps a patch that a command applied twice
        is_view = call.native_tool == "view_image" and not cleaned.is_error
        teller.result(
            call_id,
            "" if is_view else cleaned.text,
            is_error=cleaned.is_error,
            exit_code=None if is_edit else cleaned.exit_code,
            duration_ms=cleaned.duration_ms,
            status=cleaned.status,
        )

    def _went_on(self, session: str, cleaned: Cleaned) -> None:
        """More output of a command that was still running; perhaps its end."""
        started = self._running.get(session)
        if started is None or self._teller.calls.is_closed(started[0]):
            return
        call_id, text = started[0], started[1] + cleaned.text
        if cleaned.exit_code is None:
            self._running[session] = (call_id, text)
            self._teller.delta(CHANNEL, "output", cleaned.text, call_id)
        elif not self.commands_follow:
            self._teller.result(
                call_id, text, is_error=bool(cleaned.exit_code), exit_code=cleaned.exit_code
            )

    # The rest.

    def web_search(self, item: shapes.WebSearchItem) -> None:
        tool, call = web_call(None, item.action)
        if item.id is None and (tool, call) in self.nameless_searches:
            self.nameless_searches.remove((tool, call))
            self._teller.twin("web search: told before")
            return
        call_id = item.id or f"line-{self._out.line}"
        self._teller.call(call_id, tool, "web_search", call)
        self._teller.result(call_id)

    def image_generation(self, item: shapes.ImageGenerationItem) -> None:
        call_id = item.id or f"line-{self._out.line}"
        prompt = {"prompt": item.revised_prompt} if item.revised_prompt else {}
        self._teller.call(call_id, "image_generation", "image_generation", prompt)
        self._teller.result(call_id, is_error=item.status == "failed")

    def tool_search(self, item: shapes.ToolSearchItem) -> None:
        call_id = item.call_id or item.id or f"line-{self._out.line}"
        call = function_call("tool_search", None, item.arguments, None)
        self._teller.call(call_id, TOOL_SEARCH, "tool_search", call.input)

    def tool_search_output(self, item: shapes.ToolSearchOutputItem) -> None:
        found = [
            f"{group.get('name')}.{tool.get('name')}"
            if group.get("tools")
            else str(tool.get("name"))
            for group in _dicts(item.tools)
            for tool in (_dicts(group.get("tools")) or [group])
        ]
        self._teller.result(item.call_id or f"line-{self._out.line}", "\n".join(found))

    def agent_message(self, item: shapes.AgentMessageItem) -> None:
        letter = f"from {item.author} to {item.recipient}\n{_text(item.content)}"
        self._teller.context("agent", letter)

    def additional_tools(self, item: shapes.AdditionalToolsItem) -> None:
        self._teller.context(item.role, bytes(item.tools).decode(errors="replace"))

    def ghost_snapshot(self, item: shapes.GhostSnapshotItem) -> None:
        self._teller.notice(CHANNEL, "info", f"snapshot of the workspace: {item.ghost_commit.id}")

    def compaction(self, item: shapes.CompactionItem) -> None:
        self._teller.compacted(CHANNEL)


_output = msgspec.json.Decoder()


def _text(content: list[shapes.Part] | str) -> str:
    if isinstance(content, str):
        return content
    if len(content) == 1:
        return content[0].text
    return "\n".join(part.text for part in content if part.text)


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


_Tell: TypeAlias = Callable[[ResponseItems, Any], None]
TELL: Final[dict[type[shapes.ResponseItem], _Tell]] = {
    shapes.MessageItem: ResponseItems.message,
    shapes.ReasoningItem: ResponseItems.reasoning,
    shapes.FunctionCallItem: ResponseItems.function_call,
    shapes.FunctionOutputItem: ResponseItems.output,
    shapes.CustomCallItem: ResponseItems.custom_call,
    shapes.CustomOutputItem: ResponseItems.output,
    shapes.RawFunctionOutputItem: ResponseItems.raw_output,
    shapes.RawCustomOutputItem: ResponseItems.raw_output,
    shapes.LocalShellItem: ResponseItems.local_shell,
    shapes.WebSearchItem: ResponseItems.web_search,
    shapes.ImageGenerationItem: ResponseItems.image_generation,
    shapes.ToolSearchItem: ResponseItems.tool_search,
    shapes.ToolSearchOutputItem: ResponseItems.tool_search_output,
    shapes.AgentMessageItem: ResponseItems.agent_message,
    shapes.AdditionalToolsItem: ResponseItems.additional_tools,
    shapes.GhostSnapshotItem: ResponseItems.ghost_snapshot,
    shapes.CompactionItem: ResponseItems.compaction,
    shapes.CompactionSummaryItem: ResponseItems.compaction,
    shapes.ContextCompactionItem: ResponseItems.compaction,
    shapes.CompactionTriggerItem: ResponseItems.compaction,
}
