"""The lines of the stream, under the wire's own names: as much of each as is read.

What another program may put there is ``Any``: a value of the wrong type must not hide the rest of the line.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from dragoman.harnesses.stream_json.shapes import (
    ApiMessage,
    ControlCancelRequest,
    ControlRequest,
    ControlResponse,
    KeepAlive,
    StreamEvent,
    StreamLine,
)


class System(StreamLine, kw_only=True, tag="system"):
    subtype: str = ""
    # init
    cwd: Any = None
    model: Any = None
    claude_code_version: Any = None
    permissionMode: Any = None
    # status
    status: Any = None
    # notices
    content: Any = None
    level: Any = None
    text: Any = None
    title: Any = None
    # api_retry
    attempt: Any = None
    max_retries: Any = None
    retry_delay_ms: Any = None
    error_status: Any = None
    error: Any = None
    # permission_denied
    tool_name: Any = None
    decision_reason: Any = None
    message: Any = None
    # tasks
    task_id: Any = None
    task_type: Any = None
    tool_use_id: Any = None
    prompt: Any = None
    patch: Any = None
    summary: Any = None
    # what we write ourselves
    role: Any = None
    approval_id: Any = None
    kind: Any = None
    tool: Any = None
    detail: Any = None
    choices: Any = None
    command: Any = None
    decision: Any = None
    # hook_response
    hook_name: Any = None
    output: Any = None
    outcome: Any = None


class Assistant(StreamLine, kw_only=True, tag="assistant"):
    message: ApiMessage
    error: Any = None
    is_api_error_message: Any = None
    api_error_status: Any = None
    api_error_type: Any = None
    api_error: Any = None
    local_command_source: Any = None


class User(StreamLine, kw_only=True, tag="user"):
    message: ApiMessage
    isReplay: Any = None
    isSynthetic: Any = None
    tool_use_result: Any = None
    tool_result_meta: Any = None


class Result(StreamLine, kw_only=True, tag="result"):
    subtype: Any = None
    is_error: Any = None
    result: Any = None
    errors: Any = None
    terminal_reason: Any = None
    api_error_status: Any = None
    api_error_type: Any = None
    total_cost_usd: Any = None
    usage: Any = None
    modelUsage: Any = None
    local_command: Any = None
    structured_output: Any = None


class CommandLifecycle(StreamLine, kw_only=True, tag="command_lifecycle"):
    command_uuid: Any = None
    state: Any = None


class TranscriptMirror(StreamLine, kw_only=True, tag="transcript_mirror"):
    filePath: Any = None
    entries: list[msgspec.Raw] = []


class RateLimitEvent(StreamLine, kw_only=True, tag="rate_limit_event"):
    rate_limit_info: Any = None


class ToolUseSummary(StreamLine, kw_only=True, tag="tool_use_summary"):
    summary: Any = None


class AuthStatus(StreamLine, kw_only=True, tag="auth_status"):
    error: Any = None


class ToolProgress(StreamLine, kw_only=True, tag="tool_progress"):
    pass


class PromptSuggestion(StreamLine, kw_only=True, tag="prompt_suggestion"):
    suggestion: Any = None


class UpdateEnvironment(StreamLine, kw_only=True, tag="update_environment_variables"):
    pass


AnyLine: TypeAlias = (
    System
    | Assistant
    | User
    | StreamEvent
    | Result
    | ControlRequest
    | ControlResponse
    | ControlCancelRequest
    | CommandLifecycle
    | TranscriptMirror
    | RateLimitEvent
    | ToolUseSummary
    | AuthStatus
    | ToolProgress
    | KeepAlive
    | PromptSuggestion
    | UpdateEnvironment
)

decode_line = msgspec.json.Decoder(AnyLine).decode
