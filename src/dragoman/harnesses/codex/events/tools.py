"""Reports core events about tools: commands, patches, MCP, searches, images, sub-agents."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any, Final

from dragoman.harnesses.codex.events import tool_shapes as shapes
from dragoman.harnesses.codex.events.conversation import CHANNEL, ITEM_CHANNEL
from dragoman.harnesses.codex.events.shape import Event
from dragoman.harnesses.codex.items.dispatch import tell_item
from dragoman.harnesses.codex.items.shape import ThreadItem
from dragoman.harnesses.codex.items.tools import tell_picture, tell_search
from dragoman.harnesses.codex.tools.agents import agent_call
from dragoman.harnesses.codex.tools.calls import given_arguments, shell_call, web_call
from dragoman.harnesses.codex.tools.outputs import content_text, mcp_result
from dragoman.harnesses.codex.tools.patches import changes_of, directory, edit_call
from dragoman.harnesses.codex.values.durations import milliseconds
from dragoman.harnesses.codex.values.loose import as_dict, snake_case
from dragoman.model.messages import ResultStatus
from dragoman.model.tools import READ, mcp_tool

if TYPE_CHECKING:
    from dragoman.harnesses.codex.events.dispatch import Events, Tell

_REJECTIONS: Final = ("exec command rejected by user", "command rejected by user")


def exec_begin(events: Events, event: shapes.ExecCommandBegin) -> None:
    native = "user_shell" if (event.source or "").startswith("user") else "exec_command"
    call = shell_call(native, event.command, directory(event.cwd, events.session.cwd))
    events.session.call(event.call_id, call.tool, call.native_tool, call.input)


def exec_output(events: Events, event: shapes.ExecCommandOutputDelta) -> None:
    events.session.delta(CHANNEL, "output", _chunk(event.chunk), event.call_id)


def exec_end(events: Events, event: shapes.ExecCommandEnd) -> None:
    output = event.aggregated_output
    failed = bool(event.exit_code) or event.status in ("failed", "declined")
    declined = event.status == "declined" or (output or event.stderr) in _REJECTIONS
    events.session.result(
        event.call_id,
        output if output is not None else event.stdout + event.stderr,
        is_error=failed or declined,
        exit_code=None if declined else event.exit_code,
        duration_ms=_took(event),
        status="declined" if declined else None,
    )


def terminal_interaction(events: Events, event: shapes.TerminalInteraction) -> None:
    events.session.duplicate("terminal: the command's output shows it")


def patch_begin(events: Events, event: shapes.PatchApplyBegin) -> None:
    tool, call = edit_call(changes_of(event.changes))
    events.responses.release(event.call_id, tool, call)
    events.session.call(event.call_id, tool, "apply_patch", call)


def patch_end(events: Events, event: shapes.PatchApplyEnd) -> None:
    if events.session.calls.is_closed(event.call_id):
        events.session.duplicate("tool result: emitted before")
        return
    if event.changes is not None:
        tool, call = edit_call(changes_of(event.changes))
        events.responses.release(event.call_id, tool, call)
        if not events.session.calls.is_known(event.call_id):
            events.session.call(event.call_id, tool, "apply_patch", call)
    failed = not event.success
    status: ResultStatus | None = "declined" if event.status == "declined" else None
    output = both_outputs(event.stdout, event.stderr, failed=failed)
    events.responses.spoken_items += 1
    events.session.result(event.call_id, output, is_error=failed, status=status)


def both_outputs(stdout: str | None, stderr: str | None, *, failed: bool) -> str:
    """What a patch tool printed: what went wrong, if it did, before what went well."""
    parts = (stderr, stdout) if failed else (stdout, stderr)
    return "\n".join(filter(None, parts))


def mcp_begin(events: Events, event: shapes.McpToolCallBegin) -> None:
    call = event.invocation or shapes.Invocation(event.server, event.tool, event.arguments)
    name = mcp_tool(call.server, call.tool)
    native = f"{call.server}.{call.tool}"
    events.session.call(event.call_id, name, native, given_arguments(call.arguments))


def mcp_end(events: Events, event: shapes.McpToolCallEnd) -> None:
    if not events.session.calls.is_known(event.call_id) and (event.invocation or event.tool):
        mcp_begin(events, event)
    cleaned = mcp_result(event.result, event.error)
    events.responses.spoken_items += 1
    events.session.result(
        event.call_id,
        cleaned.text,
        is_error=cleaned.is_error,
        duration_ms=_took(event),
    )


def _took(event: shapes.ExecCommandEnd | shapes.McpToolCallEnd) -> int | None:
    return milliseconds(event.duration if event.duration is not None else event.duration_ms)


def web_begin(events: Events, event: shapes.WebSearchBegin) -> None:
    if event.query:
        tell_search(events.session, event.call_id, *web_call(event.query, None), done=False)
    else:
        events.session.duplicate("web search: its end carries it")


def web_end(events: Events, event: shapes.WebSearchEnd) -> None:
    tool, call = web_call(event.query, event.action)
    if events.announces:
        events.responses.nameless_searches.append((tool, call))
    tell_search(events.session, event.call_id, tool, call, done=True, found=event.results)


def view_image(events: Events, event: shapes.ViewImage) -> None:
    events.session.call(event.call_id, READ, "view_image", {"file_path": event.path})
    events.session.result(event.call_id)


def image_begin(events: Events, event: shapes.ImageGenerationBegin) -> None:
    events.session.call(event.call_id, "image_generation", "image_generation", {})


def image_end(events: Events, event: shapes.ImageGenerationEnd) -> None:
    tell_picture(
        events.session,
        event.call_id,
        event.revised_prompt,
        done=True,
        path=event.saved_path,
        failed=event.status == "failed",
    )


def dynamic_request(events: Events, event: shapes.DynamicToolRequest) -> None:
    name = f"{event.namespace}.{event.tool}" if event.namespace else event.tool
    events.session.call(event.callId or event.call_id, name, name, given_arguments(event.arguments))


def dynamic_response(events: Events, event: shapes.DynamicToolResponse) -> None:
    output = content_text(event.content_items) or event.error or ""
    events.session.result(
        event.call_id,
        output,
        is_error=not event.success,
        duration_ms=milliseconds(event.duration),
    )


def sub_agent(events: Events, event: shapes.SubAgentActivity) -> None:
    item = ThreadItem(
        type="sub_agent_activity",
        id=event.event_id,
        kind=event.kind,
        agent_thread_id=event.agent_thread_id,
        agent_path=event.agent_path,
    )
    tell_item(events.session, ITEM_CHANNEL, item, done=True)


def collab(events: Events, event: Any) -> None:
    """``collab_agent_spawn_begin``, ``collab_waiting_end`` and their kin."""
    words = snake_case(type(event).__name__).split("_")  # collab, spawn, begin
    one = event.receiver_thread_id or event.new_thread_id
    agents = [one] if one else event.receiver_thread_ids
    tool, call = agent_call(words[1], event.prompt, agents)
    events.session.call(event.call_id, tool, "_".join(words[:2]), call)
    if words[2] == "end":
        states = as_dict(event.statuses) or {"": event.status}
        item = ThreadItem(
            type="collab_tool_call",
            id=event.call_id,
            tool=words[1],
            receiver_thread_ids=agents,
            agents_states=states,
        )
        tell_item(events.session, ITEM_CHANNEL, item, done=True)


def _chunk(chunk: str | list[int]) -> str:
    """A piece of output: bytes as numbers, bytes in base64, or (in documents) plain text."""
    if isinstance(chunk, list):
        return bytes(byte & 0xFF for byte in chunk).decode(errors="replace")
    try:
        return base64.b64decode(chunk, validate=True).decode()
    except (binascii.Error, ValueError):
        return chunk


TELL: Final[dict[type[Event], Tell]] = {
    shapes.ExecCommandBegin: exec_begin,
    shapes.ExecCommandOutputDelta: exec_output,
    shapes.ExecCommandEnd: exec_end,
    shapes.TerminalInteraction: terminal_interaction,
    shapes.PatchApplyBegin: patch_begin,
    shapes.PatchApplyUpdated: patch_begin,
    shapes.PatchApplyEnd: patch_end,
    shapes.McpToolCallBegin: mcp_begin,
    shapes.McpToolCallEnd: mcp_end,
    shapes.WebSearchBegin: web_begin,
    shapes.WebSearchEnd: web_end,
    shapes.ViewImage: view_image,
    shapes.ImageGenerationBegin: image_begin,
    shapes.ImageGenerationEnd: image_end,
    shapes.DynamicToolRequest: dynamic_request,
    shapes.DynamicToolResponse: dynamic_response,
    shapes.SubAgentActivity: sub_agent,
    shapes.CollabSpawnBegin: collab,
    shapes.CollabSpawnEnd: collab,
    shapes.CollabSendBegin: collab,
    shapes.CollabSendEnd: collab,
    shapes.CollabWaitBegin: collab,
    shapes.CollabWaitEnd: collab,
    shapes.CollabCloseBegin: collab,
    shapes.CollabCloseEnd: collab,
    shapes.CollabResumeBegin: collab,
    shapes.CollabResumeEnd: collab,
}
