from __future__ import annotations

import tomllib
from typing import Any

import pytest

from dragoman.rehearsal.agents.toml import to_toml

_TABLES: list[dict[str, Any]] = [
    {},
    {"a": 1, "b": {"c": 2.5, "d": {"e": [1, 2], "f": True}}, "g": 'ü " \\ \n'},
    {"a": {"b": {}}, "c": [{"d": "e", "f g": []}]},
]


@pytest.mark.parametrize("table", _TABLES)
def test_toml_is_written_so_that_it_reads_the_same(table: dict[str, Any]) -> None:
    assert tomllib.loads(to_toml(table)) == table
