from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.harnesses.codex.values.loose import (
    as_count,
    as_dict,
    as_int,
    as_list,
    as_number,
    as_str,
    snake_case,
    snake_keys,
    texts_in,
)

VALUES: list[Any] = [None, True, 1, 1.5, "x", [1], {"a": 1}]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_is_given_only_as_the_type_it_has(value: Any) -> None:
    assert as_dict(value) == (value if isinstance(value, dict) else {})
    assert as_list(value) == (value if isinstance(value, list) else [])
    assert as_str(value) == (value if isinstance(value, str) else None)


@pytest.mark.parametrize(
    ("value", "whole", "number"),
    [
        (5, 5, 5.0),
        (-5, -5, -5.0),
        (1.5, None, 1.5),
        (True, None, None),
        ("5", None, None),
        (1 << 62, 1 << 62, float(1 << 62)),
        pytest.param(1 << 63, None, float(1 << 63), id="too large for a count"),
        pytest.param(-(1 << 63), None, -float(1 << 63), id="too far below nothing"),
        pytest.param(10**400, None, None, id="too large for a float"),
    ],
)
def test_true_is_no_number_and_a_fraction_or_a_huge_one_no_whole_one(
    value: Any, whole: int | None, number: float | None
) -> None:
    assert as_int(value) == whole
    assert as_number(value) == number


@pytest.mark.parametrize(
    ("value", "count"), [(5, 5), (0, 0), (-5, 0), (True, 0), (1.5, 0), ("5", 0), (None, 0)]
)
def test_what_counts_nothing_is_a_count_of_none(value: Any, count: int) -> None:
    assert as_count(value) == count


@pytest.mark.parametrize(
    ("name", "snake"),
    [
        ("thread_id", "thread_id"),
        ("threadId", "thread_id"),
        ("ThreadId", "thread_id"),
        ("mcpToolCall", "mcp_tool_call"),
        ("CollabAgentToolCall", "collab_agent_tool_call"),
        ("item2Name", "item2_name"),
        ("text", "text"),
        ("", ""),
    ],
)
def test_the_three_spellings_of_a_name_become_one(name: str, snake: str) -> None:
    assert snake_case(name) == snake


@given(st.text(alphabet="abcXYZ_09"))
def test_a_name_in_snake_case_stays_as_it_is(name: str) -> None:
    assert snake_case(snake_case(name)) == snake_case(name)


def test_every_key_is_respelled_and_no_value() -> None:
    given = {"threadId": "threadId", "turnIds": [{"itemId": None}, "aB", 1]}

    assert snake_keys(given) == {
        "thread_id": "threadId",
        "turn_ids": [{"item_id": None}, "aB", 1],
    }


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        ({"text": "a"}, "a"),
        ({"textDelta": "a"}, "a"),
        ({"text_delta": "a"}, "a"),
        ({"delta": "a"}, "a"),
        ({"delta": {"text": "a"}}, "a"),
        ({"content": "a"}, "a"),
        ({"content": [{"type": "text", "text": "a"}, {"content": {"text": "b"}}, "c"]}, "abc"),
        ([{"type": "Text", "text": "Loo"}, {"type": "Text", "text": "king."}], "Looking."),
        ({"text": None, "content": "a"}, "a"),
        ({"type": "image"}, ""),
        ({}, ""),
        (None, ""),
        (5, ""),
    ],
    ids=str,
)
def test_the_text_in_a_content_value_is_found_wherever_it_is(content: Any, text: str) -> None:
    assert texts_in(content) == text


@given(json_values)
def test_no_content_raises(content: Any) -> None:
    assert isinstance(texts_in(content), str)
