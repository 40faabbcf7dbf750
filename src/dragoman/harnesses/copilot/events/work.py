"""What the agent does: calls, their output while they run, and their results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dragoman.harnesses.copilot.tools import call_of, outcome_of
from dragoman.wire.loose import as_str

if TYPE_CHECKING:
    from dragoman.harnesses.copilot.events.reader import EventReader
    from dragoman.harnesses.copilot.events.shapes import Event
    from dragoman.harnesses.copilot.session import CopilotSession

_SHELL: Final = "shell"
_PARTIAL: Final = "partial"


def report_call(
    session: CopilotSession, given: dict[str, Any], name_key: str, arguments: Any
) -> None:
    """A call, from what asks for it or from what begins it."""
    native, call_id = as_str(given.get(name_key)) or "tool", as_str(given.get("toolCallId"))
    if call_id is None:
        session.assembler.duplicate("tool call: without an id")
        return
    server = as_str(given.get("mcpServerName"))
    call = call_of(native, arguments, server, as_str(given.get("mcpToolName")))
    if not session.assembler.calls.is_known(call_id):
        session.tools[call_id] = (native, call.tool)
    session.assembler.call(call_id, call.tool, native, call.input)


def execution_start(reader: EventReader, event: Event) -> None:
    session = reader.session_of(event)
    session.ensure_turn(event.id)
    session.note_work()
    report_call(session, event.data, "toolName", event.data.get("arguments"))


def execution_complete(reader: EventReader, event: Event) -> None:
    session, data = reader.session_of(event), event.data
    call_id = as_str(data.get("toolCallId")) or ""
    assembler = session.assembler
    native, tool = session.tools.get(call_id, (None, None))
    outcome = outcome_of(data, tool)
    if not assembler.calls.is_known(call_id):
        report_call(session, {**data, "toolName": as_str(data.get("toolName"))}, "toolName", {})
    query = as_str(assembler.input_of(call_id).get("query")) if native == "sql" else None
    assembler.result(
        call_id,
        outcome.output,
        is_error=outcome.is_error,
        exit_code=outcome.exit_code,
        status=outcome.status,
    )
    session.tools.pop(call_id, None)
    if query is not None and not outcome.is_error:
        steps = session.todos.run(query)
        if steps is not None:
            assembler.plan(steps)


def shell_output(reader: EventReader, event: Event) -> None:
    session = reader.session_of(event)
    call_id = as_str(event.data.get("toolCallId")) or ""
    session.streamed.add(call_id)
    session.assembler.delta(_SHELL, "output", as_str(event.data.get("text")) or "", call_id)


def partial_result(reader: EventReader, event: Event) -> None:
    """All output so far, again and again; newer releases send the pieces as well."""
    session = reader.session_of(event)
    call_id = as_str(event.data.get("toolCallId")) or ""
    if call_id in session.streamed or not session.assembler.calls.is_open(call_id):
        session.assembler.duplicate("state: tool.execution_partial_result")
        return
    text = as_str(event.data.get("partialOutput")) or ""
    session.assembler.snapshot(_PARTIAL, "output", text, call_id)


def progress(reader: EventReader, event: Event) -> None:
    session = reader.session_of(event)
    text = as_str(event.data.get("progressMessage"))
    if text:
        session.assembler.notice("progress", "info", text)
    else:
        session.assembler.duplicate("state: tool.execution_progress")
