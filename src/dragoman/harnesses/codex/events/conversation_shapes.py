"""The shapes of core events about the conversation itself."""

from __future__ import annotations

from typing import Any

import msgspec

from dragoman.harnesses.codex.events.shape import Event
from dragoman.harnesses.codex.items.shape import ThreadItem
from dragoman.harnesses.codex.responses.shapes import AnyResponseItem
from dragoman.model.usage import Count, Usage

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


# Texts.


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
    item: ThreadItem
    turn_id: str | None = None


class ItemCompleted(Event, tag="item_completed"):
    item: ThreadItem
    turn_id: str | None = None


class RawResponseItem(Event, tag="raw_response_item"):
    item: AnyResponseItem


# Tokens.


class TokenInfo(msgspec.Struct, gc=False):
    total_token_usage: Usage | None = None
    last_token_usage: Usage | None = None
    model_context_window: int | None = None
    totalTokenUsage: Any = None  # how documents spell it
    lastTokenUsage: Any = None


class TokenCount(Event, tag="token_count"):
    info: TokenInfo | None = None
    rate_limits: msgspec.Raw = msgspec.Raw(b"null")
    # Up to 0.28 the event was the newest response's usage itself.
    input_tokens: Count | None = None
    cached_input_tokens: Count | None = None
    output_tokens: Count | None = None
    reasoning_output_tokens: Count | None = None


class RawResponseCompleted(Event, tag="raw_response_completed"):
    response_id: str | None = None


class ErrorEvent(Event, tag="error"):
    message: str = ""
    codex_error_info: Any = None
    details: Any = None
    additional_details: Any = None


class PlanUpdate(Event, tag="plan_update"):
    plan: Any = None
    explanation: str | None = None


class TurnDiff(Event, tag="turn_diff"):
    unified_diff: str = ""
