"""Tokens as the Messages API counts them, turned into our own counts.

Anthropic's ``input_tokens`` leaves out what was read from, or written to, the prompt cache; ours includes both.
"""

from __future__ import annotations

from typing import Any

from dragoman.model.usage import Usage
from dragoman.wire.loose import as_count, as_dict


def usage_of(value: Any) -> Usage | None:
    """The usage of one response, or of one turn; None if there is none."""
    given = as_dict(value)
    if "input_tokens" not in given and "output_tokens" not in given:
        return None
    cached = as_count(given.get("cache_read_input_tokens"))
    written = as_count(given.get("cache_creation_input_tokens"))
    lifetimes = as_dict(given.get("cache_creation"))
    long_lived = as_count(lifetimes.get("ephemeral_1h_input_tokens"))
    thought = as_count(as_dict(given.get("output_tokens_details")).get("thinking_tokens"))
    written = max(written, long_lived)
    return Usage(
        input_tokens=as_count(given.get("input_tokens")) + cached + written,
        cached_input_tokens=cached,
        cache_write_input_tokens=written,
        output_tokens=as_count(given.get("output_tokens")),
        reasoning_output_tokens=thought,
        cache_write_1h_input_tokens=long_lived,
    )
