"""Tokens as opencode counts them, turned into our own counts.

Its ``input`` leaves out what was read from, or written to, the prompt cache, and its ``output`` leaves out reasoning;
ours include them.
"""

from __future__ import annotations

from typing import Any

from dragoman.model.usage import Usage
from dragoman.wire.loose import as_count, as_dict


def usage_of(value: Any) -> Usage | None:
    """The usage of one step; None if there is none."""
    given = as_dict(value)
    if "input" not in given and "output" not in given:
        return None
    cache = as_dict(given.get("cache"))
    cached, written = as_count(cache.get("read")), as_count(cache.get("write"))
    reasoning = as_count(given.get("reasoning"))
    return Usage(
        input_tokens=as_count(given.get("input")) + cached + written,
        cached_input_tokens=cached,
        cache_write_input_tokens=written,
        output_tokens=as_count(given.get("output")) + reasoning,
        reasoning_output_tokens=reasoning,
    )
