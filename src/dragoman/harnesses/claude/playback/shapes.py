"""The lines that Claude Code prints, made from values of messages."""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.claude.playback.release import RELEASE
from dragoman.harnesses.stream_json.playback.steps import Line
from dragoman.model.messages import SessionStarted, ToolCall, TurnEnded
from dragoman.model.tools import TASK
from dragoman.model.usage import Usage

HARNESS: Final = "claude"


def init_line(started: SessionStarted, session_id: str, mode: str) -> Line:
    is_own = started.harness == HARNESS and started.version is not None
    return {
        "type": "system",
        "subtype": "init",
        "cwd": started.cwd or "/",
        "session_id": session_id,
        "tools": [],
        "mcp_servers": [],
        "model": started.model or "recorded",
        "permissionMode": mode,
        "apiKeySource": "none",
        "claude_code_version": started.version if is_own else RELEASE,
        "output_style": "default",
    }


def native_tool(call: ToolCall) -> str:
    """The name that Claude itself uses: its own, or the one that fits."""
    return "Agent" if call.tool == TASK else call.tool


def wire_usage(usage: Usage | None) -> Line:
    """Claude counts cached tokens beside the input, not in it."""
    spent = usage or Usage()
    cached, written = spent.cached_input_tokens, spent.cache_write_input_tokens
    return {
        "input_tokens": max(0, spent.input_tokens - cached - written),
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": written,
        "output_tokens": spent.output_tokens,
        "service_tier": "standard",
    }


def result_line(ended: TurnEnded, text: str, cost: float, number: int) -> Line:
    error = ended.error
    line: Line = {
        "type": "result",
        "subtype": "success",
        "is_error": ended.outcome != "completed",
        "result_index": number,
        "num_turns": 1,
        "duration_ms": 0,
        "duration_api_ms": 0,
        "total_cost_usd": cost,
        "usage": wire_usage(ended.usage),
        "permission_denials": [],
        "terminal_reason": "completed",
        "result": text,
    }
    if ended.outcome == "interrupted":
        del line["result"]
        line |= {"subtype": "error_during_execution", "terminal_reason": "aborted_streaming"}
    elif error is not None:
        line |= {"terminal_reason": "api_error", "result": error.message}
        line["api_error_type"] = error.native
        line["api_error_status"] = 500 if error.retryable else 400
    return line
