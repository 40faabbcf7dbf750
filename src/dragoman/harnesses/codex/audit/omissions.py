"""What no message repeats, by name, and why: the only values that a line may take with it.

A place is the name of the line (its method, its event, its row) and the way to the value:
``item/started.item.type``, ``turn_context.summary``, ``event/exec_command_begin.parsed_cmd[].type``. In a
pattern ``*`` matches one name and ``**`` any path.
"""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.assembly.omissions import Omission, Omissions

UNSAID_RULES: Final = frozenset(
    (
        "answer: to a question that is no part of a session",
        "answer: returned to the caller",
    )
)
"""Rules of duplicates that are about something else than sessions: the account, the models, the settings."""
TOLD: Final = (
    "session_meta.cwd", "session_meta.cli_version", "turn_context.model", "turn_context.cwd",
    "thread/started.thread.cwd", "thread/started.thread.preview", "event/session_configured.model",
    "event/thread_settings_applied.thread_settings.model", "answer.thread.cwd",
    "thread/settings/updated.threadSettings.model",
)  # fmt: skip
"""Values that are emitted although their neighbors are not."""
UNSAID: Final = (
    Omission(
        "a name for the kind of thing; the message is of that kind",
        ("**.type", "**.kind", "**.role", "**.purpose", "**.item_type", "**.phase", "**.source",
         "**.content_item_kinds[]", "**.codex_elicitation", "**.collaboration_mode_kind"),
    ),
    Omission(
        "a name by which lines refer to one another; messages have names of their own",
        ("**.id", "**.*Id", "**.*_id", "**.*Ids[]", "**.*_ids[]", "**.processId", "**.process_id",
         "**.nickname", "**.agent_nickname", "**.revision", "**.*Cursor", "**.ordinal", "**.agent_path",
         "**.sequence_number", "**.output_index", "**.summary_index", "**.summaryIndex",
         "**.content_index", "**.contentIndex", "**._meta.*"),
    ),
    Omission(
        "when it was: messages carry the time of their line",
        ("**.timestamp", "**.*_at", "**.*At", "**.*AtMs", "**.*_at_ms", "**.create_time"),
    ),
    Omission(
        "how far a thing is; the message says it by its type, or its status in our words",
        ("**.status", "**.status.type", "**.status.activeFlags[]", "**.state", "**.itemsView",
         "**.stream", "**.decision", "**.action", "**.scope", "**.success"),
    ),
    Omission(
        "a sum of numbers that are emitted",
        ("**.total_tokens", "**.totalTokens"),
    ),
    Omission(
        "the harness's own reading of a command that is emitted",
        ("**.parsed_cmd[].**", "**.parsedCmd[].**", "**.codex_parsed_cmd[].**",
         "**.commandActions[].**", "**.command_actions[].**", "**.formatted_output",
         "**.formattedOutput"),
    ),
    Omission(
        "a setting of the session, which is no part of the conversation",
        ("turn_context.**", "event/thread_settings_applied.**", "thread/settings/updated.**",
         "session_meta.**", "event/session_configured.**", "sessionConfigured.**", "thread/started.**",
         "answer.sandbox.**", "answer.sandbox", "answer.approvalPolicy", "answer.approvalsReviewer",
         "answer.multiAgentMode", "answer.collaborationMode.**", "answer.modelProvider",
         "answer.reasoningEffort", "answer.serviceTier", "answer.instructionSources[]",
         "answer.activePermissionProfile.**", "answer.permissionProfile.**", "answer.thread.**",
         "event/task_started.**", "event/turn_started.**", "turn/started.turn.**",
         "answer.rolloutPath", "answer.runtimeWorkspaceRoots[]", "line.git.**", "line.sandbox", "line.approval", "line.provider",
         "line.reasoning effort", "line.reasoning summaries"),
    ),
    Omission(
        "what the client wants of the session; what comes of it is emitted",
        ("initialize.**", "thread/start.**", "thread/resume.**", "thread/fork.**", "turn/start.cwd",
         "turn/start.sandboxPolicy.**", "turn/start.approvalPolicy", "turn/start.approvalPolicy.**",
         "turn/start.model", "turn/start.effort", "turn/start.summary", "turn/start.personality",
         "turn/start.outputSchema.**", "turn/start.collaborationMode.**", "turn/start.serviceTier",
         "turn/start.multiAgentMode", "newConversation.**", "resumeConversation.**",
         "sendUserTurn.cwd", "sendUserTurn.sandboxPolicy.**", "sendUserTurn.approvalPolicy",
         "sendUserTurn.model", "sendUserTurn.effort", "sendUserTurn.summary",
         "review/start.target.type", "review/start.delivery",
         "command/exec.**", "execOneOffCommand.**", "*/list.**", "*/read.**", "**/list.**",
         "op/user_turn.cwd", "op/user_turn.approval_policy",
         "op/user_turn.sandbox_policy.**", "op/user_turn.model", "op/user_turn.effort",
         "op/user_turn.summary", "op/override_turn_context.**", "tools/call.name",
         "tools/call.arguments.sandbox", "tools/call.arguments.cwd", "tools/call.arguments.model",
         "tools/call.arguments.approval-policy", "tools/call.arguments.config.**"),
    ),
    Omission(
        "who the two programs are; the session says the release",
        ("answer.userAgent", "answer.platform*", "answer.codexHome", "answer.protocolVersion",
         "answer.serverInfo.**", "answer.capabilities.**"),
    ),
    Omission(
        "the list of tools that an MCP client is offered",
        ("answer.tools[].**",),
    ),
    Omission(
        "the session's past, which its own lines and files tell",
        ("**.initialMessages[].**", "**.initial_messages[].**", "answer.turn.items[].**",
         "answer.data[].**"),
    ),
    Omission(
        "the harness's bookkeeping about what it sends to the model",
        ("world_state.**", "inter_agent_communication_metadata.**", "**.row metadata.**",
         "**.internal_chat_message_metadata_passthrough.**", "**.encrypted_content",
         "security_risk_state.**", "**.previous_response_id", "**.record_type", "**.text_elements[].**",
         "**.textElements[].**", "**.memory_citation.**", "**.memoryCitation.**",
         "**.ghost_commit.parent", "compacted.retained_context.**.order", "compacted.retained_context.next_order",
         "compacted.replacement_history_metadata[].**", "compacted.window_number",
         "compacted.resume_metadata.**"),
    ),
    Omission(
        "about the reader or the account, not about the session",
        ("thread/readState/changed.**", "account/updated.**", "answer.account.**", "thread/queue/changed.**",
         "**.planType", "**.plan_type", "**.limitId", "**.limitName", "**.limit_id", "**.credits.**"),
    ),
    Omission(
        "the picture itself; the message has the place it was saved in, or the kind of picture",
        ("event/image_generation_end.result", "**.item(imageGeneration).result",
         "message.content[].image_url", "event/user_message.images[]",
         "**.item(ImageGeneration).result", "response_item/image_generation_call.result",
         "**.contentItems[].imageUrl", "**.content_items[].image_url", "**.content[].detail",
         "response_item/message.content[].image_url", "turn/start.input[].path",
         "event/item_completed.item(UserMessage).content[].image_url"),
    ),
    Omission(
        "the words around a question that the approval asks",
        ("elicitation/create.message", "elicitation/create.requestedSchema.**"),
    ),
    Omission(
        "the directory that a command ran in; the session says its own, and an approval the other",
        ("**.item(commandExecution).cwd", "**.item(CommandExecution).cwd", "event/exec_command_*.cwd"),
    ),
    Omission(
        "how a model wants its command to be run; Claude's own tool has no word for it",
        ("json.workdir", "json.timeout_ms", "json.timeout", "json.login", "json.tty", "json.shell",
         "json.yield_time_ms", "json.max_output_tokens", "json.sandbox_permissions",
         "json.justification", "json.with_escalated_permissions", "json.prefix_rule"),
    ),
    Omission(
        "what kind of helper a model wants; only its session file says it",
        ("json.agent_type", "**.reasoningEffort", "**.reasoning_effort"),
    ),
    Omission(
        "what a helper had said so far, when it was written to; its own session says it",
        ("item.completed.item(collab_tool_call).agents_states.**", "**.agents_states.*",
         "item/completed.item(collabAgentToolCall).agentsStates.**"),
    ),
    Omission(
        "how long a turn or a goal took; the times of its messages say it",
        ("turn/completed.turn.durationMs", "event/task_complete.duration_ms",
         "event/task_complete.time_to_first_token_ms", "event/turn_complete.duration_ms",
         "event/turn_complete.time_to_first_token_ms", "event/turn_aborted.duration_ms",
         "**.goal.timeUsedSeconds", "**.goal.tokensUsed"),
    ),
    Omission(
        "the scores of a review, which the agent does not show; the text has its findings",
        ("**.review_output.findings[].confidence_score", "**.review_output.findings[].priority",
         "**.review_output.overall_correctness", "**.review_output.overall_confidence_score"),
    ),
    Omission(
        "the description of a tool that was found; the result names the tool",
        ("response_item/tool_search_output.tools[].**", "response_item/tool_search_*.execution"),
    ),
    Omission(
        "a number or a name beside an answer that says it in words",
        ("answer.error.code", "**.httpStatusCode", "**.http_status_code", "remoteControl/status/changed.serverName",
         "**.availableDecisions[]", "**.available_decisions[]", "mcpServer/elicitation/request.mode"),
    ),
    Omission(
        "what a model calls a tool that another line tells by its result",
        ("**.item(custom_tool_call).name", "response_item/custom_tool_call.name",
         "**.item(function_call).name"),
    ),
    Omission(
        "how long the server waited for a tool of ours, whose result was emitted when it was sent",
        ("**.item(dynamicToolCall).durationMs",),
    ),
    Omission(
        "a total that a resumed process counts from its own start; the usage records have the whole",
        ("event/token_count.info.total_token_usage.*", "token_usage_record.t*_token_usage.*",
         "compacted.latest_token_usage_record.**"),
    ),
    Omission(
        "the size of the context, said with a count of no tokens",
        ("event/token_count.info.model_context_window",
         "thread/tokenUsage/updated.tokenUsage.modelContextWindow"),
    ),
)  # fmt: skip


reason: Final = Omissions(UNSAID, TOLD).reason
"""Why what is at a place is in no message; None if it has to be."""
