from __future__ import annotations

import re

import pytest

from dragoman.errors import UsageError
from dragoman.mcp_server.arguments import (
    ReadArguments,
    SearchArguments,
    ToolArguments,
    read_arguments,
    schema_of,
)
from dragoman.mcp_server.tools import TOOLS


def test_numbers_may_come_as_text() -> None:
    read = read_arguments({"session_id": "s", "around": "3", "outputs": "false"}, ReadArguments)

    assert (read.around, read.outputs, read.max_chars) == (3, False, 20_000)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "missing required field `query`"),
        ({"query": ""}, "length >= 1"),
        ({"query": "x", "limit": 0}, "limit"),
        ({"query": "x", "kinds": ["dream"]}, "dream"),
        ({"query": "x", "project_dir": "/"}, "unknown argument 'project_dir'; known: query"),
        ({"query": 5, "limit": {}}, "query"),
    ],
)
def test_what_is_wrong_is_said(given: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=re.escape(words)):
        read_arguments(given, SearchArguments)


@pytest.mark.parametrize(
    "arguments", [tool.arguments for tool in TOOLS], ids=lambda each: each.__name__
)
def test_a_schema_is_one_piece_and_describes_every_argument(arguments: type[ToolArguments]) -> None:
    schema = schema_of(arguments)

    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert "$ref" not in str(schema)
    assert all(each.get("description") for each in schema["properties"].values())
