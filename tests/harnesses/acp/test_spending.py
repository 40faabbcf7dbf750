"""The four meanings of ``usage``, reduced to the tokens of a turn."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.harnesses.acp.spending import ProcessTotal, turn_usage, usage_in
from dragoman.model.usage import NOTHING, Usage


@pytest.mark.parametrize(
    ("native", "usage"),
    [
        (
            {"inputTokens": 11, "outputTokens": 44, "cachedReadTokens": 33, "cachedWriteTokens": 22, "totalTokens": 110},
            Usage(66, 33, 22, 44),
        ),
        (
            {"inputTokens": 60, "outputTokens": 15, "totalTokens": 120, "thoughtTokens": 5, "cachedReadTokens": 40},
            Usage(100, 40, 0, 20, 5),
        ),
        (
            {"inputTokens": 100, "outputTokens": 20, "totalTokens": 120, "thoughtTokens": 5, "cachedReadTokens": 40},
            Usage(100, 40, 0, 20, 5),
        ),
        ({"inputTokens": 0, "outputTokens": 0, "totalTokens": 0}, NOTHING),
        ({"totalTokens": 3}, None),
        (None, None),
    ],
)  # fmt: skip
def test_whether_the_input_includes_cached_tokens_follows_from_the_sum(
    native: Any, usage: Usage | None
) -> None:
    assert usage_in(native) == usage


def test_a_counter_of_the_process_is_read_as_what_is_new() -> None:
    counter = ProcessTotal()
    totals = [
        Usage(800, output_tokens=100),
        Usage(1000, output_tokens=120),
        Usage(100, output_tokens=20),
    ]

    assert [counter.since_last(total).input_tokens for total in totals] == [800, 200, 100]


def test_a_quota_counts_the_turn() -> None:
    quota = {"quota": {"token_count": {"input_tokens": 200, "output_tokens": 40}}}

    assert turn_usage({"_meta": quota}) == Usage(200, output_tokens=40)
    assert turn_usage({"stopReason": "cancelled"}) is None
