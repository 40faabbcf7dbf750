"""The shapes of core events: ``{"type": "exec_command_begin", …}``.

They come in ``codex exec --json`` up to 0.42, ``codex proto``, the MCP server's ``codex/event``,
app-server v1 (and beside v2 up to 0.114) as ``codex/event/<type>``, and in rollouts as ``event_msg``.
Only the fields we use; upstream's names.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from dragoman.harnesses.codex.item_shape import Item
from dragoman.harnesses.codex.response_shapes import AnyResponseItem
from dragoman.model.usage import Usage


class Event(msgspec.Struct, gc=False, tag_field="type"):
    """Any of them."""


# Sessions and turns.


class SessionConfigured(Event, tag="session_configured"):
    session_id: str | None = None
    thread_id: str | None = None
    model: str | None = None
    cwd: str | None = None
    forked_from_id: str | None = None


class TaskStarted(Event, tag="task_started"):
    turn_id: str | None = None
    model_context_window: int | None = None


class TurnStartedAlias(TaskStarted, tag="turn_started"):
    pass


class TaskComplete(Event, tag="task_complete"):
    turn_id: str | None = None
    last_agent_message: str | None = None
    error: Any = None


class TurnCompleteAlias(TaskComplete, tag="turn_complete"):
    pass


class TurnAborted(Event, tag="turn_aborted"):
    turn_id: str | None = None
    reason: str | None = None


class ShutdownComplete(Event, tag="shutdown_complete"):
    pass


# What is said.


class UserMessage(Event, tag="user_message"):
    message: str = ""
    images: list[str] | None = None
    local_images: list[str] = []
    kind: str | None = None


class AgentMessage(Event, tag="agent_message"):
    message: str = ""
    phase: str | None = None


class AgentMessageDelta(Event, tag="agent_message_delta"):
    delta: str = ""


class AgentMessageContentDelta(Event, tag="agent_message_content_delta"):
    delta: str = ""
    item_id: str | None = None


class AgentReasoning(Event, tag="agent_reasoning"):
    text: str | None = None
    content: str | None = None


class AgentReasoningRaw(Event, tag="agent_reasoning_raw_content"):
    text: str = ""


class AgentReasoningDelta(Event, tag="agent_reasoning_delta"):
    delta: str = ""


class AgentReasoningRawDelta(Event, tag="agent_reasoning_raw_content_delta"):
    delta: str = ""


class AgentReasoningBreak(Event, tag="agent_reasoning_section_break"):
    pass


class ReasoningDelta(Event, tag="reasoning_content_delta"):
    delta: str = ""
    item_id: str | None = None


class ReasoningRawDelta(Event, tag="reasoning_raw_content_delta"):
    delta: str = ""
    item_id: str | None = None


class PlanDelta(Event, tag="plan_delta"):
    delta: str = ""
    item_id: str | None = None


class ItemStarted(Event, tag="item_started"):
    item: Item
    turn_id: str | None = None


class ItemCompleted(Event, tag="item_completed"):
    item: Item
    turn_id: str | None = None


class RawResponseItem(Event, tag="raw_response_item"):
    item: AnyResponseItem


# Tools.


class ExecCommandBegin(Event, tag="exec_command_begin"):
    call_id: str
    command: Any = None
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


class WebSearchBegin(Event, tag="web_search_begin"):
    call_id: str
    query: str | None = None


class WebSearchEnd(Event, tag="web_search_end"):
    call_id: str
    query: str | None = None
    action: Any = None


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


class PlanUpdate(Event, tag="plan_update"):
    plan: Any = None
    explanation: str | None = None


class TurnDiff(Event, tag="turn_diff"):
    unified_diff: str = ""


# Questions.


class ExecApproval(Event, tag="exec_approval_request"):
    call_id: str | None = None
    approval_id: str | None = None
    command: Any = None
    cwd: str | None = None
    reason: str | None = None


class PatchApproval(Event, tag="apply_patch_approval_request"):
    call_id: str | None = None
    changes: Any = None
    reason: str | None = None


class RequestUserInput(Event, tag="request_user_input"):
    call_id: str
    questions: Any = None


class RequestPermissions(Event, tag="request_permissions"):
    call_id: str
    reason: str | None = None
    permissions: Any = None


class ElicitationRequest(Event, tag="elicitation_request"):
    id: Any = None
    server_name: str = ""
    message: str | None = None
    request: Any = None


# Tokens.


class TokenInfo(msgspec.Struct, gc=False):
    total_token_usage: Usage | None = None
    last_token_usage: Usage | None = None
    model_context_window: int | None = None


class TokenCount(Event, tag="token_count"):
    info: TokenInfo | None = None
    rate_limits: msgspec.Raw = msgspec.Raw(b"null")
    # Up to 0.28 the event was the newest response's usage itself.
    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_output_tokens: int | None = None


class RawResponseCompleted(Event, tag="raw_response_completed"):
    response_id: str | None = None


# Words from the harness.


class ErrorEvent(Event, tag="error"):
    message: str = ""
    codex_error_info: Any = None


class StreamError(Event, tag="stream_error"):
    message: str = ""


class BackgroundEvent(Event, tag="background_event"):
    message: str = ""


class Warning(Event, tag="warning"):
    message: str = ""


class GuardianWarning(Warning, tag="guardian_warning"):
    pass


class DeprecationNotice(Event, tag="deprecation_notice"):
    summary: str = ""
    details: str | None = None


class ContextCompacted(Event, tag="context_compacted"):
    pass


class ThreadRolledBack(Event, tag="thread_rolled_back"):
    num_turns: int = 0


class ThreadNameUpdated(Event, tag="thread_name_updated"):
    thread_name: str | None = None


class ThreadGoalUpdated(Event, tag="thread_goal_updated"):
    goal: Any = None


class ThreadSettings(msgspec.Struct, frozen=True, gc=False):
    model: str | None = None
    cwd: str | None = None


class ThreadSettingsApplied(Event, tag="thread_settings_applied"):
    thread_settings: ThreadSettings = ThreadSettings()


class EnteredReviewMode(Event, tag="entered_review_mode"):
    user_facing_hint: str | None = None


class ExitedReviewMode(Event, tag="exited_review_mode"):
    review_output: Any = None


class McpStartupUpdate(Event, tag="mcp_startup_update"):
    server: str = ""
    status: Any = None


class McpStartupComplete(Event, tag="mcp_startup_complete"):
    ready: list[str] = []
    failed: list[Any] = []
    cancelled: list[str] = []


class SkillsUpdateAvailable(Event, tag="skills_update_available"):
    pass


class ModelReroute(Event, tag="model_reroute"):
    from_model: str = ""
    to_model: str = ""
    reason: Any = None


class UndoStarted(Event, tag="undo_started"):
    message: str | None = None


class UndoCompleted(Event, tag="undo_completed"):
    message: str | None = None
    success: bool = True


AnyEvent: TypeAlias = (
    SessionConfigured | TaskStarted | TurnStartedAlias | TaskComplete | TurnCompleteAlias
    | TurnAborted | ShutdownComplete | UserMessage | AgentMessage | AgentMessageDelta
    | AgentMessageContentDelta | AgentReasoning | AgentReasoningRaw | AgentReasoningDelta
    | AgentReasoningRawDelta | AgentReasoningBreak | ReasoningDelta | ReasoningRawDelta | PlanDelta
    | ItemStarted | ItemCompleted | RawResponseItem | ExecCommandBegin | ExecCommandOutputDelta
    | ExecCommandEnd | TerminalInteraction | PatchApplyBegin | PatchApplyUpdated | PatchApplyEnd
    | McpToolCallBegin | McpToolCallEnd | WebSearchBegin | WebSearchEnd | ViewImage
    | ImageGenerationBegin | ImageGenerationEnd | DynamicToolRequest | DynamicToolResponse
    | SubAgentActivity | CollabSpawnBegin | CollabSpawnEnd | CollabSendBegin | CollabSendEnd
    | CollabWaitBegin | CollabWaitEnd | CollabCloseBegin | CollabCloseEnd | CollabResumeBegin
    | CollabResumeEnd | PlanUpdate | TurnDiff | ExecApproval | PatchApproval | RequestUserInput
    | RequestPermissions | ElicitationRequest | TokenCount | RawResponseCompleted | ErrorEvent
    | StreamError | BackgroundEvent | Warning | GuardianWarning | DeprecationNotice
    | ContextCompacted | ThreadRolledBack | ThreadNameUpdated | ThreadGoalUpdated
    | ThreadSettingsApplied | EnteredReviewMode | ExitedReviewMode | McpStartupUpdate
    | McpStartupComplete | SkillsUpdateAvailable | ModelReroute | UndoStarted | UndoCompleted
)  # fmt: skip
