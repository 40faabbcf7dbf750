"""The shapes of core events about tools."""

from __future__ import annotations

from typing import Any

import msgspec

from dragoman.harnesses.codex.events.shape import Event

# Tools.


class ExecCommandBegin(Event, tag="exec_command_begin"):
    call_id: str
    command: Any = None
    cwd: Any = None
    source: str | None = None


class ExecCommandOutputDelta(Event, tag="exec_command_output_delta"):
    call_id: str
    chunk: str | list[int] = ""


class ExecCommandEnd(Event, tag="exec_command_end"):
    call_id: str
    stdout: str = ""
    stderr: str = ""
    aggregated_output: str | None = None
    exit_code: int | None = None
    duration: Any = None
    duration_ms: Any = None
    status: str | None = None


class TerminalInteraction(Event, tag="terminal_interaction"):
    call_id: str
    stdin: str = ""


class PatchApplyBegin(Event, tag="patch_apply_begin"):
    call_id: str
    changes: Any = None


class PatchApplyUpdated(PatchApplyBegin, tag="patch_apply_updated"):
    pass


class PatchApplyEnd(Event, tag="patch_apply_end"):
    call_id: str
    changes: Any = None
    stdout: str = ""
    stderr: str = ""
    success: bool = True
    status: str | None = None


class Invocation(msgspec.Struct, gc=False):
    server: str = ""
    tool: str = ""
    arguments: Any = None


class McpToolCallBegin(Event, tag="mcp_tool_call_begin"):
    call_id: str
    invocation: Invocation | None = None
    server: str = ""
    tool: str = ""
    arguments: Any = None


class McpToolCallEnd(McpToolCallBegin, tag="mcp_tool_call_end"):
    result: Any = None
    error: Any = None
    duration: Any = None
    duration_ms: Any = None


class WebSearchBegin(Event, tag="web_search_begin"):
    call_id: str
    query: str | None = None


class WebSearchEnd(Event, tag="web_search_end"):
    call_id: str
    query: str | None = None
    action: Any = None
    results: Any = None


class ViewImage(Event, tag="view_image_tool_call"):
    call_id: str
    path: str = ""


class ImageGenerationBegin(Event, tag="image_generation_begin"):
    call_id: str


class ImageGenerationEnd(Event, tag="image_generation_end"):
    call_id: str
    revised_prompt: str | None = None
    saved_path: str | None = None
    status: str | None = None


class DynamicToolRequest(Event, tag="dynamic_tool_call_request"):
    callId: str = ""  # this event alone spells its fields in camelCase
    call_id: str = ""
    tool: str = ""
    namespace: str | None = None
    arguments: Any = None


class DynamicToolResponse(Event, tag="dynamic_tool_call_response"):
    call_id: str
    tool: str = ""
    namespace: str | None = None
    arguments: Any = None
    content_items: Any = None
    success: bool = True
    error: str | None = None
    duration: Any = None


class SubAgentActivity(Event, tag="sub_agent_activity"):
    event_id: str = ""
    kind: str = "started"
    agent_thread_id: str | None = None
    agent_path: str | None = None


class _Collab(Event):
    call_id: str
    prompt: str | None = None
    receiver_thread_id: str | None = None
    receiver_thread_ids: list[str] = []
    new_thread_id: str | None = None
    status: Any = None
    statuses: Any = None


class CollabSpawnBegin(_Collab, tag="collab_agent_spawn_begin"):
    pass


class CollabSpawnEnd(_Collab, tag="collab_agent_spawn_end"):
    pass


class CollabSendBegin(_Collab, tag="collab_agent_interaction_begin"):
    pass


class CollabSendEnd(_Collab, tag="collab_agent_interaction_end"):
    pass


class CollabWaitBegin(_Collab, tag="collab_waiting_begin"):
    pass


class CollabWaitEnd(_Collab, tag="collab_waiting_end"):
    pass


class CollabCloseBegin(_Collab, tag="collab_close_begin"):
    pass


class CollabCloseEnd(_Collab, tag="collab_close_end"):
    pass


class CollabResumeBegin(_Collab, tag="collab_resume_begin"):
    pass


class CollabResumeEnd(_Collab, tag="collab_resume_end"):
    pass
