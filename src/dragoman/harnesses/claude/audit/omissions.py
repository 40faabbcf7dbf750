"""What no message repeats, by name, and why: the only values that a line may take with it."""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.assembly.omissions import Omission, Omissions

UNSAID_RULES: Final = frozenset(
    (
        "bookkeeping",
        "row: it was written before",
        "journal: how it was recorded",
        "journal: the end of the input",
        "mirror: the rows of the transcript",
        "signature: it proves a thought, and says nothing",
        "thinking: redacted",
        "tool input: the call has it whole",
        "content block: it comes whole",
        "content block: it came whole",
        "prompt: it was never taken up",
        "prompt: queued",
        "prompt: failed",
        "prompt: started",
        "prompt: completed",
        "prompt: cancelled",
        "prompt: discarded",
        "control: the agent answered",
        "control: the host answered",
        "control: a hook of the host",
        "control: for an MCP server of the host",
        "control: a dialog of the host",
        "control: a token of the host",
        "control: a request was withdrawn",
    )
)
"""Reasons of duplicates that are about something else than sessions, or cannot be compared piece by piece."""
_UNSAID_BEGINNINGS: Final = ("control: the host asked for ", "state: ", "context: ")

OMISSIONS: Final = (
    Omission(
        "what a line says about itself: whose it is, when it was written, and for which request",
        ("*.session_id", "*.sessionId", "*.uuid", "*.parentUuid", "*.timestamp", "*.request_id",
         "*.requestId", "*.parent_tool_use_id", "*.agent_id", "*.agentId", "*.subagent_type",
         "*.task_description", "*.ttft_ms", "*.thinking_display", "*.api_message_id", "*.owed_rows",
         "*.user_message_uuid", "*.user_message_uuids[]", "*.abandoned_blocks.**", "*.promptId",
         "*.userType", "*.entrypoint", "*.version", "*.gitBranch", "*.cwd", "*.permissionMode",
         "*.promptSource", "*.turnOrigin", "*.turnPosition.**", "*.turnAttributionKey", "*.slug",
         "*.origin.**", "*.sourceToolAssistantUUID", "*.requestRef", "*.requestedModel",
         "*.promptCacheRequested", "*.apiBlockIndex", "*.perTurnEffort", "*.madeBy",
         "*.thinkingDurationMs", "*.thinkingDisplay", "*.thinking_duration_ms",
         "*.toolInputStreamMs", "*.requestSessionId", "*.forkedFrom.**", "*.logicalParentUuid",
         "*.logical_parent_uuid", "*.level", "*.attribution*", "*.apiErrorIsTransient"),
    ),
    Omission(
        "a name for the kind of thing; the message is of that kind",
        ("**.type", "**.role", "*.subtype", "**.stop_reason", "**.stop_sequence",
         "**.stop_details.**"),
    ),
    Omission(
        "a name by which lines refer to one another; messages have names of their own",
        ("**.id", "**.*_id", "**.index", "**.signature"),
    ),
    Omission(
        "a setting of the session, which is no part of the conversation",
        ("system/init.tools[]", "system/init.mcp_servers[].**", "system/init.*_commands[]",
         "system/init.apiKeySource", "system/init.output_style", "system/init.agents[]",
         "system/init.skills[]", "system/init.plugins[].**", "system/init.capabilities[]",
         "system/init.memory_paths.**", "system/init.*_cwd", "system/init.additional_directories[]",
         "system/init.messaging_socket_path", "system/init.fast_mode*", "system/init.view_mode",
         "system/init.ultrathink*", "system/init.permissionMode", "system/init.claude_code_version"),
    ),
    Omission(
        "how the service counted and served a response, besides the tokens that are reported",
        ("**.usage.service_tier", "**.usage.server_tool_use.**", "**.usage.inference_geo",
         "**.usage.iterations[].**", "**.usage.speed", "**.usage.cache_creation.**",
         "**.context_management.**", "**.diagnostics.**", "**.container.**"),
    ),
    Omission(
        "the counts of a response when it began; its last line has the final ones",
        ("stream_event/message_start.event.message.usage.**", "assistant.message.usage.**",
         "stream_event/message_delta.event.usage.**"),
    ),
    Omission(
        "a tool's own account of its result, which the result has as text",
        ("user.tool_use_result.**", "user.tool_use_result", "user.tool_use_result[].**",
         "user.tool_result_meta[].**", "user.toolUseResult.**", "user.toolUseResult",
         "user.toolUseResult[].**", "user.mcpMeta.**", "user.permissionDecision.**",
         "user.toolDenialKind"),
    ),
    Omission(
        "how the turn went, which its end and the tokens say",
        ("result.duration_*", "result.ttft_*", "result.time_to_request_ms", "result.num_turns",
         "result.first_*", "result.request_sent_wall_ms", "result.terminal_reason",
         "result.subtype", "result.fast_mode*", "result.subagent_stats.**", "result.safety_stops",
         "result.queued_turn_count", "result.result_index", "result.modelUsage.**",
         "result.model_usage_since_last_result.**", "result.permission_denials[].**",
         "result.usage.**", "result.local_command", "result.api_error_*", "result.total_cost_usd", "result.structured_output.**"),
    ),
    Omission(
        "the state of background work, which the sub-agent's own messages or a notice say",
        ("system/task_*.patch.**", "system/task_*.usage.**", "system/task_*.output_file",
         "system/task_*.run_id", "system/task_*.spawn_depth", "system/task_*.task_type",
         "system/task_*.status", "system/task_*.subagent_type", "system/task_*.description",
         "system/task_*.last_tool_name", "system/task_*.tool_use_id", "system/task_*.task_id"),
    ),
    Omission(
        "the words by which an interruption is put; the turn's end says it",
        ("user.message.content[].text(interrupted)", "user.message.content(interrupted)"),
    ),
    Omission(
        "how long the session took, and what its files lost or gained",
        ("cost-state.total*Duration*", "cost-state.startTime", "cost-state.totalLines*",
         "cost-state.modelUsage.**"),
    ),
    Omission(
        "how a call was shown, or why a permission was needed; the approval has what it is about",
        ("assistant.tool_use_meta[].**", "assistant.local_command_run.**", "*.request.subtype", "*.request.display_name",
         "*.request.decision_reason_type", "*.request.mcp_server.source", "*.decision_reason_type",
         "*.response.subtype", "*.response.error_code", "*.response.response.behavior",
         "system/hook_response.outcome", "system/hook_response.stdout",
         "system/hook_response.exit_code", "system/hook_response.hook_event"),
    ),
    Omission(
        "the answer to a question, which the call's result has",
        ("*.response.response.updatedInput.answers.**",),
    ),
    Omission(
        "how long it waits before it tries again; the notice has it in seconds",
        ("system/api_retry.retry_delay_ms", "system/api_error.retryInMs", "system/api_error.source"),
    ),
    Omission(
        "the same error in other words",
        ("system/api_error.error.message", "system/api_error.error.connection.**",
         "system/api_error.error.status", "result.api_error", "result.errors[](diagnosis)"),
    ),
    Omission(
        "what the model was told about its surroundings; the text that it was given is emitted",
        ("attachment.attachment(rendered).**", "attachment.attachment.contextRendering"),
    ),
    Omission(
        "a prompt that waited, as the model is given it; the prompt is emitted",
        ("attachment.rendered(queued_command)[].content", "attachment.attachment.source_uuid",
         "attachment.attachment.timestamp", "attachment.attachment.commandMode",
         "user.imagePasteIds[]"),
    ),
    Omission(
        "which hook ran, and when; what it said is emitted",
        ("attachment.attachment.hookName", "attachment.attachment.hookEvent",
         "attachment.attachment.command", "attachment.attachment.durationMs",
         "attachment.attachment.toolUseID", "attachment.attachment.exitCode"),
    ),
    Omission(
        "how a compaction was made",
        ("system/compact_boundary.compact_metadata.**", "system/compact_boundary.compactMetadata.**",
         "system/compact_boundary.content"),
    ),
)  # fmt: skip

_OMISSIONS: Final = Omissions(OMISSIONS)


def reason(place: str) -> str | None:
    """Why what is at this place is in no message; None if it has to be."""
    return _OMISSIONS.reason(place)


def is_unsaid(rule: str) -> bool:
    """Whether lines that are duplicates for this reason say nothing that a message has to hold."""
    return rule in UNSAID_RULES or rule.startswith(_UNSAID_BEGINNINGS)
