from __future__ import annotations

import math
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import UsageError
from dragoman.harnesses.codex.values.toml import toml_value

_TEXT = st.text(st.characters(exclude_categories=["Cs"]))
_VALUES = st.recursive(
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(_TEXT, inner),
    max_leaves=8,
)


@given(_VALUES)
def test_a_toml_reader_gets_back_what_was_written(value: Any) -> None:
    written = toml_value(value)

    assert "\n" not in written
    assert tomllib.loads(f"key = {written}")["key"] == value


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("high", '"high"'),
        (False, "false"),
        (3, "3"),
        (1.0, "1.0"),
        (1e100, "1e+100"),
        (("a", 1), '["a", 1]'),
        ({"a-b": {"c.d": []}}, '{a-b = {"c.d" = []}}'),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (math.nan, "nan"),
        ("\x7f\n\0", '"\\u007f\\n\\u0000"'),
    ],
)
def test_values_are_spelled_as_toml_has_them(value: Any, written: str) -> None:
    assert toml_value(value) == written


@pytest.mark.parametrize("value", [None, [None], {"a": object()}])
def test_what_toml_cannot_hold_is_refused_by_name(value: Any) -> None:
    with pytest.raises(UsageError, match=r"'the\.key'"):
        toml_value(value, "the.key")
