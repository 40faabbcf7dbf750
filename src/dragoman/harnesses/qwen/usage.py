"""Tokens as Qwen Code counts them, turned into our own counts.

A model's service counts thoughts as part of the output or beside it; where they are beside it, the total says so.
"""

from __future__ import annotations

from typing import Any

from dragoman.model.usage import Usage
from dragoman.wire.loose import as_count, as_dict


def streamed_usage(value: Any) -> Usage | None:
    """The usage on a line of the stream; None if the line has none."""
    given = as_dict(value)
    if "input_tokens" not in given and "output_tokens" not in given:
        return None
    return _usage(
        as_count(given.get("input_tokens")),
        as_count(given.get("output_tokens")),
        as_count(given.get("cache_read_input_tokens")),
        0,
        as_count(given.get("total_tokens")),
    )


def response_usage(value: Any) -> Usage | None:
    """The usage of a response, from its row; None if the row has none."""
    given = as_dict(value)
    if "promptTokenCount" not in given and "candidatesTokenCount" not in given:
        return None
    return _usage(
        as_count(given.get("promptTokenCount")),
        as_count(given.get("candidatesTokenCount")),
        as_count(given.get("cachedContentTokenCount")),
        as_count(given.get("thoughtsTokenCount")),
        as_count(given.get("totalTokenCount")),
    )


def telemetry_usage(value: Any) -> Usage | None:
    """The usage of a response, from a row about the request; None if the row has none."""
    given = as_dict(value)
    if "input_token_count" not in given and "output_token_count" not in given:
        return None
    return _usage(
        as_count(given.get("input_token_count")),
        as_count(given.get("output_token_count")),
        as_count(given.get("cached_content_token_count")),
        as_count(given.get("thoughts_token_count")),
        as_count(given.get("total_token_count")),
    )


def _usage(sent: int, said: int, cached: int, thought: int, total: int) -> Usage:
    output = max(said, total - sent)
    return Usage(
        input_tokens=sent,
        cached_input_tokens=min(cached, sent),
        output_tokens=output,
        reasoning_output_tokens=min(thought, output),
    )
