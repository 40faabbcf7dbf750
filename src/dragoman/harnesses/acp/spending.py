"""The tokens of a turn, as one number that means the same for every agent.

The counts of a result either include cached tokens in the input (Copilot, Qwen) or not (Claude, opencode). Which it
is follows from their own sum.
"""

from __future__ import annotations

from typing import Any

from dragoman.model.usage import NOTHING, Usage
from dragoman.wire.loose import as_count, as_dict, as_int


def usage_in(native: Any) -> Usage | None:
    """The counts in a ``usage`` object; None if there is none."""
    given = as_dict(native)
    if as_int(given.get("inputTokens")) is None and as_int(given.get("outputTokens")) is None:
        return None
    read, written = (
        as_count(given.get("cachedReadTokens")),
        as_count(given.get("cachedWriteTokens")),
    )
    thought = as_count(given.get("thoughtTokens"))
    shown, said = as_count(given.get("inputTokens")), as_count(given.get("outputTokens"))
    total = as_int(given.get("totalTokens"))
    if total == shown + said:
        return Usage(shown, min(read, shown), min(written, shown), said, min(thought, said))
    if total == shown + said + read + written + thought:
        said += thought
    return Usage(shown + read + written, read, written, said, min(thought, said))


def quota_in(meta: Any) -> Usage | None:
    """The counts of Gemini's ``_meta.quota``, which are those of one turn."""
    counts = as_dict(as_dict(as_dict(meta).get("quota")).get("token_count"))
    if as_int(counts.get("input_tokens")) is None:
        return None
    return Usage(
        input_tokens=as_count(counts.get("input_tokens")),
        output_tokens=as_count(counts.get("output_tokens")),
    )


def turn_usage(result: dict[str, Any]) -> Usage | None:
    """The counts in the result of a prompt, whatever they count."""
    usage = usage_in(result.get("usage"))
    return usage if usage is not None else quota_in(result.get("_meta"))


class ProcessTotal:
    """A counter that an agent keeps for its process, which is read as what is new since the last time."""

    def __init__(self) -> None:
        self._before = NOTHING

    def since_last(self, total: Usage) -> Usage:
        """What was spent since the last time."""
        before, self._before = self._before, total
        return total - before
