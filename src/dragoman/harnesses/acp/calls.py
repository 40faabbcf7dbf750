"""The calls of one session, from their first mention, wherever that is, to their end.

An agent mentions a call before it knows the input, or first when it asks for permission, or first when it is over.
A call is emitted once, as soon as its input is known; at the latest when something else happens.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from dragoman.harnesses.acp.outputs import output_of
from dragoman.harnesses.acp.quirks import AcpQuirks
from dragoman.harnesses.acp.tools import CallFacts, ToolUse, native_name, texts_of, use_of
from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.model.messages import ResultStatus
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
    is_emitted: bool = False
    is_denied: bool = False

    def facts(self) -> CallFacts:
        return CallFacts(self.name, self.title, self.kind, self.input, self.content, self.locations)


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
            self._end(call, update, status)
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
        """Take the call that a request for permission is about."""
        call = self._find(as_str(tool_call.get("toolCallId")) or "")
        self._merge(call, tool_call, is_permission=True)
        self.emit(call)
        return call, use_of(call.facts(), self.servers)

    def deny(self, call_id: str) -> None:
        """The host has denied this call."""
        if (call := self._open.get(call_id)) is not None:
            call.is_denied = True

    def emit_known(self, besides: AcpCall | None = None) -> None:
        """Something else happens: a call whose input is known was held back only in case there is more."""
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
        use = use_of(call.facts(), self.servers)
        self._assembler.call(call.id, use.tool, use.native, use.input)

    def end_turn(self) -> None:
        """The turn ends: a call that was denied has ended with that, if the agent does not say so."""
        for call in list(self._open.values()):
            self.emit(call)
            if call.is_denied:
                self._assembler.result(call.id, is_error=True, status="declined")
        self._open.clear()
        self.seen = 0

    def owns(self, call_id: str) -> bool:
        return call_id in self._open or self._assembler.calls.is_known(call_id)

    def _find(self, call_id: str) -> AcpCall:
        return self._open.setdefault(call_id, AcpCall(call_id))

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

    def _knows_input(self, call: AcpCall) -> bool:
        return bool(call.input.keys() - self.quirks.thin_inputs)

    def _progress(
        self, call: AcpCall, update: dict[str, Any], status: str | None, was_emitted: bool
    ) -> None:
        """Output of a command that still runs; an update with an input shows the call and not its output."""
        texts = texts_of(as_list(update.get("content"))) if call.kind == "execute" else []
        is_output = status == "in_progress" or "rawInput" not in update
        if was_emitted and texts and is_output:
            self._assembler.snapshot(_CHANNEL, "output", "\n".join(texts), call.id)
        else:
            self._assembler.duplicate("tool call: emitted before")

    def _end(self, call: AcpCall, update: dict[str, Any], status: str) -> None:
        # What it shows before its end is its input; what it ends with is its output.
        shown = as_list(update.get("content"))
        self.emit(call)
        is_command = call.kind == "execute" or use_of(call.facts(), ()).tool == "Bash"
        output = output_of(update.get("rawOutput"), shown, is_command=is_command)
        is_error = status != "completed" or output.exit_code not in (0, None)
        became: ResultStatus | None = "declined" if call.is_denied and is_error else None
        self._assembler.result(
            call.id,
            output.text,
            is_error=is_error,
            exit_code=output.exit_code,
            status=became,
        )
        del self._open[call.id]
