"""Tokens as Copilot counts them, turned into our own counts.

``inputTokens`` includes what was read from the prompt cache, as ours do.
"""

from __future__ import annotations

from typing import Any

from dragoman.model.usage import Usage
from dragoman.wire.loose import as_count, as_dict


def usage_of(value: Any) -> Usage | None:
    """The usage of one response; None if there is none."""
    given = as_dict(value)
    if "inputTokens" not in given and "outputTokens" not in given:
        return None
    cached = as_count(given.get("cacheReadTokens"))
    written = as_count(given.get("cacheWriteTokens"))
    reasoning = as_count(given.get("reasoningTokens"))
    return Usage(
        input_tokens=max(as_count(given.get("inputTokens")), cached + written),
        cached_input_tokens=cached,
        cache_write_input_tokens=written,
        output_tokens=max(as_count(given.get("outputTokens")), reasoning),
        reasoning_output_tokens=reasoning,
    )


def spent_in_all(metrics: Any) -> Usage | None:
    """The sum over all models in ``modelMetrics``; None if there is none."""
    found = [
        usage
        for each in as_dict(metrics).values()
        if (usage := usage_of(as_dict(each).get("usage"))) is not None
    ]
    return sum(found, Usage()) if found else None
