"""The files that the traps are made of: rollouts, row by row, and what their sessions have spent."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

Tokens: TypeAlias = tuple[int, int, int, int, int]
"""Input, cached, cache write, output, reasoning."""
NOTHING: Tokens = (0, 0, 0, 0, 0)
_NAMES = (
    "input_tokens",
    "cached_input_tokens",
    "cache_write_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
)
_START = datetime(2026, 11, 10, 8, 0, tzinfo=UTC)


def plus(one: Tokens, other: Tokens) -> Tokens:
    a, b, c, d, e = (left + right for left, right in zip(one, other, strict=True))
    return a, b, c, d, e


@dataclass
class Trap:
    """One way to count wrong, and the right count."""

    name: str
    spent: dict[str | None, Tokens] = field(default_factory=dict[str | None, Tokens])
    """By model."""
    silent: int = 0
    """Sessions that tell no usage."""

    @property
    def total(self) -> Tokens:
        total = NOTHING
        for tokens in self.spent.values():
            total = plus(total, tokens)
        return total


class Clock:
    """Gives times, and the ids that begin with them."""

    def __init__(self, hour: int) -> None:
        self.now = _START + timedelta(hours=hour)
        self._count = hour << 20

    def id(self) -> str:
        self.now += timedelta(seconds=1)
        self._count += 1
        head = f"{int(self.now.timestamp() * 1000):012x}"
        return f"{head[:8]}-{head[8:]}-7{self._count & 0xFFF:03x}-8813-{self._count:012x}"


class File:
    """One rollout being written, and what its session has spent."""

    def __init__(self, trap: Trap, clock: Clock, *, model: str = "gpt-5.5", of: str = "") -> None:
        self.trap, self.clock, self.model = trap, clock, model
        self.id = of or clock.id()
        self.rows: list[bytes] = []
        self.total: Tokens = NOTHING
        self.turn_id = ""
        self.ordinal = -1
        """Counts up in paginated files."""

    def row(self, kind: str, payload: dict[str, Any]) -> None:
        self.clock.now += timedelta(milliseconds=40)
        row: dict[str, Any] = {
            "timestamp": self.clock.now.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
        }
        if self.ordinal >= 0:
            row["ordinal"] = self.ordinal
            self.ordinal += 1
        row |= {"type": kind, "payload": payload}
        self.rows.append(json.dumps(row, separators=(",", ":")).encode() + b"\n")

    def event(self, kind: str, **fields: Any) -> None:
        self.row("event_msg", {"type": kind, **fields})

    def meta(self, version: str = "0.142.0", **fields: Any) -> None:
        meta = {"id": self.id, "timestamp": self.clock.now.isoformat(), "cwd": "/work/traps"}
        self.row("session_meta", {**meta, "originator": "x", "cli_version": version, **fields})

    def turn(self, *, model: str | None = None) -> None:
        self.model = model or self.model
        self.turn_id = self.clock.id()
        self.event("task_started", turn_id=self.turn_id, model_context_window=258400)
        self.row("turn_context", {"cwd": "/work/traps", "model": self.model})
        content = [{"type": "input_text", "text": "go on"}]
        self.row("response_item", {"type": "message", "role": "user", "content": content})
        self.event("user_message", message="go on")

    def end(self) -> None:
        self.event("task_complete", turn_id=self.turn_id, last_agent_message="done")

    def spends(self, *tokens: int, told: bool = True) -> Tokens:
        """One response: counted for the trap, added to the total, and told."""
        own: Tokens = (tokens[0], tokens[1], 0, tokens[2], tokens[3])
        self.trap.spent[self.model] = plus(self.trap.spent.get(self.model, NOTHING), own)
        self.total = plus(self.total, own)
        if told:
            self.count(own)
        return own

    def count(self, last: Tokens, total: Tokens | None = None) -> None:
        info = {"total_token_usage": _usage(total or self.total), "last_token_usage": _usage(last)}
        self.event("token_count", info={**info, "model_context_window": 258400}, rate_limits=None)

    def record(self, own: Tokens) -> None:
        told = {"thread_id": self.id, "turn_id": self.turn_id, "response_id": self.clock.id()}
        usage = {"usage": _usage(own), "thread_token_usage": _usage(self.total)}
        self.row("token_usage_record", {**told, **usage})


def _usage(tokens: Tokens) -> dict[str, int]:
    return {**dict(zip(_NAMES, tokens, strict=True)), "total_tokens": tokens[0] + tokens[3]}
