"""Tokens as the Gemini API counts them, turned into our own counts.

The prompt includes what came from the cache. Thoughts are counted beside the output, and the tokens of tools that the
service ran by itself beside the prompt; ours are part of the output and of the input.
"""

from __future__ import annotations

from typing import Any

from dragoman.model.usage import Usage
from dragoman.wire.loose import as_count, as_dict


def usage_of(tokens: Any) -> Usage | None:
    """The usage of one response, from a row; None if there is none."""
    given = as_dict(tokens)
    if "input" not in given and "output" not in given:
        return None
    sent = as_count(given.get("input")) + as_count(given.get("tool"))
    thought = as_count(given.get("thoughts"))
    return Usage(
        input_tokens=sent,
        cached_input_tokens=min(as_count(given.get("cached")), sent),
        output_tokens=as_count(given.get("output")) + thought,
        reasoning_output_tokens=thought,
    )


def usage_by_model(stats: Any) -> list[tuple[str | None, Usage]]:
    """What a run has spent, for each of its models. Thoughts are only in the total."""
    given = as_dict(stats)
    models = as_dict(given.get("models"))
    counted = [(name, _of_model(as_dict(each))) for name, each in models.items()]
    if not models:
        counted = [(None, _of_model(given))]
    return [(name, usage) for name, usage in counted if usage]


def _of_model(given: dict[str, Any]) -> Usage:
    sent = as_count(given.get("input_tokens"))
    said = as_count(given.get("output_tokens"))
    thought = max(0, as_count(given.get("total_tokens")) - sent - said)
    return Usage(
        input_tokens=sent,
        cached_input_tokens=min(as_count(given.get("cached")), sent),
        output_tokens=said + thought,
        reasoning_output_tokens=thought,
    )
