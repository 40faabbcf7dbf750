"""Count the tokens in transcripts without any of our code: what the ledger is compared with."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_NAMES = ("input", "cached", "written", "written_1h", "output")
Counts = Counter[str]


def naive(paths: Iterable[Path]) -> Counts:
    """Add up the usage of every row, as it stands there."""
    counts = Counts()
    for path in paths:
        for row in _assistants(path):
            counts += _counts(row["message"]["usage"])
    return counts


def true(paths: Iterable[Path]) -> dict[str, dict[str, Counts]]:
    """Add up the usage of every response once: by session, and by model."""
    responses: dict[str, tuple[str, str, Counts]] = {}
    for path in sorted(paths):
        for row in _assistants(path):
            message = row["message"]
            if message["model"] == "<synthetic>":
                continue
            owner = row.get("agentId") or row.get("requestSessionId") or row["sessionId"]
            responses[message["id"]] = (owner, message["model"], _counts(message["usage"]))
    by_session: dict[str, Counts] = {}
    by_model: dict[str, Counts] = {}
    total = Counts()
    for owner, model, counts in responses.values():
        by_session.setdefault(owner, Counts()).update(counts)
        by_model.setdefault(model, Counts()).update(counts)
        total.update(counts)
    return {"session": by_session, "model": by_model, "total": {"total": total}}


def _assistants(path: Path) -> Iterable[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row.get("type") == "assistant":
            yield row


def _counts(usage: dict[str, Any]) -> Counts:
    cached = usage.get("cache_read_input_tokens", 0)
    written = usage.get("cache_creation_input_tokens", 0)
    lifetimes: dict[str, int] = usage.get("cache_creation") or {}
    return Counts(
        input=usage["input_tokens"] + cached + written,
        cached=cached,
        written=written,
        written_1h=lifetimes.get("ephemeral_1h_input_tokens", 0),
        output=usage["output_tokens"],
    )
