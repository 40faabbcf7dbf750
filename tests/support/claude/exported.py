"""Messages exported in Claude's format."""

from __future__ import annotations

from typing import Any

import msgspec

from dragoman.export.base import Include, Options
from dragoman.export.claude.exporter import ClaudeExporter
from dragoman.model.messages import (
    Message,
    Plan,
    PlanStep,
)

NO_TOKENS = {
    "input_tokens": 0,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "output_tokens": 0,
}


def claude(*messages: Message, include: frozenset[Include] = frozenset()) -> list[dict[str, Any]]:
    """The lines, without the ids that every line has."""
    lines = raw_lines(*messages, include=include)
    return [{name: line[name] for name in line if name != "uuid"} for line in lines]


def raw_lines(
    *messages: Message, include: frozenset[Include] = frozenset()
) -> list[dict[str, Any]]:
    written = ClaudeExporter(Options(include=include)).export(messages)
    return [msgspec.json.decode(line) for line in written.split(b"\n") if line]


def result(**differently: object) -> dict[str, object]:
    line: dict[str, object] = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "duration_ms": 0,
        "duration_api_ms": 0,
        "num_turns": 1,
        "result": "",
        "session_id": "s",
        "total_cost_usd": 0,
        "usage": NO_TOKENS,
        "modelUsage": {},
        "permission_denials": [],
    }
    return line | differently


PLAN = Plan(session_id="s", line=4, steps=[PlanStep("look", "in_progress")])
