"""The calls of one session, from their first mention, wherever that is, to their end.

An agent mentions a call before it knows the input, or first when it asks for permission, or first when it is over.
A call is emitted once, as soon as its input is known; at the latest when something else happens. Where the session's
file says more than the wire, a call whose input the wire does not show, and a result, wait for the file's row; again at
the latest until something else happens.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from dragoman.harnesses.acp.outputs import agents_said, output_of, terminal_news
from dragoman.harnesses.acp.quirks import AcpQuirks
from dragoman.harnesses.acp.records import CallRecord
from dragoman.harnesses.acp.tools import CallFacts, ToolUse, native_name, texts_of, use_of
from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.gemini_tools.plans import plan_of
from dragoman.model.messages import ResultStatus
from dragoman.model.tools import TASK, TODO_WRITE
from dragoman.wire.loose import as_dict, as_list, as_str

_CHANNEL: Final = "update"
_ENDED: Final = ("completed", "failed", "cancelled")


@dataclass(slots=True)
class AcpCall:
    """A call that has not ended."""

    id: str
    name: str | None = None
    title: str = ""
    kind: str = ""
    input: dict[str, Any] = field(default_factory=dict[str, Any])
    content: list[Any] = field(default_factory=list[Any])
    locations: list[Any] = field(default_factory=list[Any])
    printed: str = ""
    """What a command has printed, where updates have it piece by piece."""
    exit_code: int | None = None
    is_emitted: bool = False
    is_denied: bool = False
    has_changes: bool = False

    def facts(self) -> CallFacts:
        shown = self.input, self.content, self.locations, self.has_changes
        return CallFacts(self.name, self.title, self.kind, *shown)


class _HeldEnd(NamedTuple):
    """The end of a call as the wire has it."""

    call: AcpCall
    update: dict[str, Any]
    status: str


class AcpCalls:
    """The open calls of one session."""

    def __init__(self, assembler: SessionAssembler, quirks: AcpQuirks) -> None:
        self._assembler = assembler
        self.quirks = quirks
        self.servers: tuple[str, ...] = ()
        """The MCP servers that the session was given."""
        self._open: dict[str, AcpCall] = {}
        self.seen = 0
        """How many calls the open turn has made."""
        self.has_file = False
        """Whether the rows of the session's file arrive as well."""
        self._records: dict[str, CallRecord] = {}
        """Calls that the file has and the wire has not ended."""
        self._held: dict[str, _HeldEnd] = {}
        """Ends that wait for the file's row."""

    def receive(self, update: dict[str, Any]) -> None:
        """Take a ``tool_call`` or a ``tool_call_update``."""
        call_id = as_str(update.get("toolCallId")) or ""
        if self._is_over(call_id):
            self._assembler.duplicate("tool call: ended before")
            return
        call = self._find(call_id)
        self.emit_known(besides=call)
        was_emitted = call.is_emitted
        self._merge(call, update, is_permission=False)
        status = as_str(update.get("status"))
        if status in _ENDED:
            self._end_or_hold(call, update, status)
        elif status == "in_progress" and self._waits_for_input(call):
            self._assembler.duplicate("tool call: emitted when its input is known")
        elif status == "in_progress" or (
            update.get("sessionUpdate") == "tool_call" and self._knows_input(call)
        ):
            self.emit(call)
            self._progress(call, update, status, was_emitted)
        elif was_emitted:
            self._progress(call, update, status, was_emitted)
        else:
            self._assembler.duplicate("tool call: emitted when its input is known")

    def mention(self, tool_call: dict[str, Any]) -> tuple[AcpCall, ToolUse]:
        """Take the call that a request for permission is about.

        What the request says is what will be done, even where the call was announced with something else.
        """
        call = self._find(as_str(tool_call.get("toolCallId")) or "")
        self._merge(call, tool_call, is_permission=True)
        self.emit(call)
        asked = as_dict(tool_call.get("rawInput"))
        named = call.input.keys() | ({"command"} & asked.keys())
        shown = {**call.input, **{name: asked[name] for name in named if name in asked}}
        return call, use_of(call.facts()._replace(input=shown), self.servers)

    def deny(self, call_id: str) -> None:
        """The host has denied this call."""
        if (call := self._open.get(call_id)) is not None:
            call.is_denied = True

    def complete(self, record: CallRecord) -> None:
        """The session's file has the whole call."""
        call = self._open.get(record.call_id)
        if call is None and self._assembler.calls.is_over(record.call_id):
            return
        self._records[record.call_id] = record
        if (held := self._held.pop(record.call_id, None)) is not None:
            self._end(*held)

    def begin_agent(self, prompt: str) -> str | None:
        """A sub-agent works on this prompt: the call that has started it is known now, if there is one."""
        for call in self._open.values():
            if use_of(call.facts(), self.servers).tool == TASK:
                if not call.is_emitted:
                    call.input = {**self._shown_of_agent(call), "prompt": prompt}
                    self.emit(call)
                return call.id
        return None

    def release(self, besides: AcpCall | None = None) -> None:
        """Something else happens: what waited for the file's row, or for a word about a denial, waits no longer."""
        held, self._held = self._held, {}
        for each in held.values():
            self._end(*each)
        if self.quirks.denials_are_silent:
            for call in [each for each in self._open.values() if each.is_denied]:
                if call is not besides:
                    self._decline(call)

    def emit_known(self, besides: AcpCall | None = None) -> None:
        """Something else happens: a call whose input is known was held back only in case there is more."""
        self.release(besides)
        for call in list(self._open.values()):
            if call is not besides and self._knows_input(call):
                self.emit(call)

    def emit_all(self) -> None:
        """No more will come for now: what was held back is emitted with what is known of it."""
        for call in list(self._open.values()):
            self.emit(call)

    def emit(self, call: AcpCall) -> None:
        if call.is_emitted:
            return
        call.is_emitted = True
        self.seen += 1
        record = self._records.get(call.id)
        use = ToolUse(*record[1:4]) if record is not None else use_of(call.facts(), self.servers)
        given = use.input or self._shown_of_agent(call)
        self._assembler.call(call.id, use.tool, use.native, given)

    def end_turn(self) -> None:
        """The turn ends: a call that was denied has ended with that, if the agent does not say so."""
        self.release()
        for call in list(self._open.values()):
            self.emit(call)
            if call.is_denied:
                self._decline(call)
        self._open.clear()
        self._records.clear()
        self.seen = 0

    def owns(self, call_id: str) -> bool:
        return call_id in self._open or self._assembler.calls.is_known(call_id)

    def _find(self, call_id: str) -> AcpCall:
        return self._open.setdefault(
            call_id, AcpCall(call_id, has_changes=self.quirks.edits_are_changes)
        )

    def _is_over(self, call_id: str) -> bool:
        return call_id not in self._open and self._assembler.calls.is_over(call_id)

    def _merge(self, call: AcpCall, update: dict[str, Any], *, is_permission: bool) -> None:
        call.name = call.name or native_name(update, self.quirks)
        given = as_dict(update.get("rawInput"))
        if given and not (is_permission and self._knows_input(call)):
            call.input = given
        title = as_str(update.get("title"))
        if title and not call.is_emitted:
            call.title = title
        call.kind = as_str(update.get("kind")) or call.kind
        call.content = as_list(update.get("content")) or call.content
        call.locations = as_list(update.get("locations")) or call.locations
        news = terminal_news(update)
        call.printed += news.text
        call.exit_code = news.exit_code if news.exit_code is not None else call.exit_code

    def _knows_input(self, call: AcpCall) -> bool:
        return bool(call.input.keys() - self.quirks.thin_inputs)

    def _progress(
        self, call: AcpCall, update: dict[str, Any], status: str | None, was_emitted: bool
    ) -> None:
        """Output of a command that still runs; an update with an input shows the call and not its output."""
        texts = texts_of(as_list(update.get("content"))) if call.kind == "execute" else []
        is_output = status == "in_progress" or "rawInput" not in update
        if call.printed and terminal_news(update).text:
            self._assembler.snapshot(_CHANNEL, "output", call.printed, call.id)
        elif was_emitted and texts and is_output:
            self._assembler.snapshot(_CHANNEL, "output", "\n".join(texts), call.id)
        else:
            self._assembler.duplicate("tool call: emitted before")

    def _decline(self, call: AcpCall) -> None:
        self._assembler.result(call.id, is_error=True, status="declined")
        self._open.pop(call.id, None)

    def _waits_for_input(self, call: AcpCall) -> bool:
        """Whether the file will say what the wire does not show. A command and a server's tool show their input."""
        if not self.has_file or call.is_emitted or call.kind == "execute":
            return False
        use = use_of(call.facts(), self.servers)
        return not (use.tool.startswith("mcp__") and use.input)

    def _shown_of_agent(self, call: AcpCall) -> dict[str, Any]:
        """What the title of a call says about the sub-agent that it starts."""
        pattern = self.quirks.agent_title
        found = pattern.search(call.title) if pattern is not None else None
        return {"subagent_type": found[1]} if found else {}

    def _end_or_hold(self, call: AcpCall, update: dict[str, Any], status: str) -> None:
        if self.has_file and call.id not in self._records:
            self._held[call.id] = _HeldEnd(call, update, status)
            self._assembler.duplicate("tool call: its result is in the session's file")
        else:
            self._end(call, update, status)

    def _end(self, call: AcpCall, update: dict[str, Any], status: str) -> None:
        if call.id in self._records:
            self._end_as_recorded(call)
            return
        # What it shows before its end is its input; what it ends with is its output.
        shown = as_list(update.get("content"))
        self.emit(call)
        is_command = call.kind == "execute" or use_of(call.facts(), ()).tool == "Bash"
        output = output_of(update.get("rawOutput"), shown, is_command=is_command)
        text = output.text or call.printed or agents_said(update.get("rawInput"))
        exit_code = output.exit_code if output.exit_code is not None else call.exit_code
        is_error = status != "completed" or exit_code not in (0, None)
        became: ResultStatus | None = "declined" if call.is_denied and is_error else None
        self._assembler.result(
            call.id,
            text,
            is_error=is_error,
            exit_code=exit_code,
            status=became,
        )
        self._open.pop(call.id, None)

    def _end_as_recorded(self, call: AcpCall) -> None:
        self.emit(call)
        record = self._records.pop(call.id)
        if record.tool == TODO_WRITE and not record.is_error:
            self._assembler.plan(plan_of(record.input))
        self._assembler.result(
            call.id,
            record.output,
            is_error=record.is_error,
            exit_code=record.exit_code,
            status=record.status,
        )
        self._open.pop(call.id, None)
