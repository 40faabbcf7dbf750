"""Events that say how the program is doing, and add nothing to the conversation."""

from __future__ import annotations

from typing import Final

_STATES: Final = frozenset(
    (
        "agent.interrupted",
        "assistant.message_start",
        "assistant.intent",
        "assistant.streaming_delta",
        "assistant.tool_call_delta",
        "assistant.server_tool_progress",
        "assistant.turn_end",
        "auto_mode_switch.completed",
        "capabilities.changed",
        "command.completed",
        "commands.changed",
        "external_tool.completed",
        "external_tool.requested",
        "hook.progress",
        "hook.start",
        "human_response.recorded",
        "pending_messages.modified",
        "prompt_cache_break",
        "sandbox.decision",
        "session.autopilot_objective_changed",
        "session.autopilot_stopped",
        "session.background_tasks_changed",
        "session.binary_asset",
        "session.custom_agents_updated",
        "session.extensions_loaded",
        "session.indexed_search",
        "session.managed_settings_enforced",
        "session.managed_settings_resolved",
        "session.mcp_server_needs_reconnect",
        "session.mcp_server_removed",
        "session.mcp_server_status_changed",
        "session.mcp_server_tools_loaded",
        "session.mcp_servers_loaded",
        "session.mode_notice_delivered",
        "session.plan_changed",
        "session.quota_observation",
        "session.remote_steerable_changed",
        "session.request_body_compression_disabled",
        "session.session_limits_changed",
        "session.skills_loaded",
        "session.todos_changed",
        "session.tools_updated",
        "session.usage_checkpoint",
        "session.usage_info",
        "session.workspace_file_changed",
        "skill.context_delivered_ref",
        "skill.invoked_ref",
        "subagent.deselected",
        "subagent.selected",
        "tool_search.activated",
    )
)
_MODEL: Final = "model."
"""What is measured about requests: their content has events of its own."""
_MCP: Final = "mcp."


def is_state(kind: str) -> bool:
    return kind in _STATES or kind.startswith((_MODEL, _MCP))
