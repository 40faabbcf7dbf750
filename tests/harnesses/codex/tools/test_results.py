"""Results of MCP and dynamic tools, exit codes and durations."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.harnesses.codex.tools.outputs import (
    _DECLINED,
    _IN_DECLINED,
    Cleaned,
    clean,
    clean_mcp,
    content_text,
    exit_code_of,
    mcp_result,
)

PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg"

# MCP tools.


@pytest.mark.parametrize(
    ("output", "cleaned"),
    [
        pytest.param('{"sum":5}', Cleaned('{"sum":5}'), id="structured"),
        pytest.param(
            'Wall time: 0.0009 seconds\nOutput:\n{"sum":5}',
            Cleaned('{"sum":5}', None, 1),
            id="with a header, 0.125 and later",
        ),
        pytest.param(
            '[{"text":"boom happened","type":"text"}]', Cleaned("boom happened"), id="content"
        ),
        pytest.param(
            'Wall time: 0.6017 seconds\nOutput:\n[{"type":"text","text":"crawled 3 pages"},'
            '{"type":"resource_link","uri":"file:///x/y.txt","name":"y.txt"}]',
            Cleaned("crawled 3 pages\n[resource_link]", None, 602),
            id="content with a header",
        ),
        pytest.param(
            '{"output":"mine","metadata":{"exit_code":3}}',
            Cleaned('{"output":"mine","metadata":{"exit_code":3}}'),
            id="a tool may answer what looks like a shell's wrapper",
        ),
        pytest.param(
            "Exit code: 3\nOutput:\nmine",
            Cleaned("Exit code: 3\nOutput:\nmine"),
            id="or like a shell's header",
        ),
        pytest.param('[{"id":1},{"id":2}]', Cleaned('[{"id":1},{"id":2}]'), id="own JSON"),
        pytest.param('[{"type":"text"', Cleaned('[{"type":"text"'), id="broken JSON"),
        pytest.param("[{" * 40_000, Cleaned("[{" * 40_000), id="too deep"),
        pytest.param("Ticket ABC-123 is open", Cleaned("Ticket ABC-123 is open"), id="words"),
        pytest.param(
            "unsupported call: lookup_ticket",
            Cleaned("unsupported call: lookup_ticket", is_error=True),
            id="no such tool",
        ),
        pytest.param(
            [
                {"type": "input_text", "text": "Wall time: 0.0018 seconds\nOutput:"},
                {"type": "input_text", "text": "boom happened"},
            ],
            Cleaned("boom happened", None, 2),
            id="a list, 0.151 and later",
        ),
    ],
)
def test_a_tool_s_own_answer_is_touched_as_little_as_can_be(output: Any, cleaned: Cleaned) -> None:
    assert clean_mcp(output) == cleaned


@pytest.mark.parametrize(
    ("result", "error", "cleaned"),
    [
        pytest.param(
            {"Ok": {"content": [{"text": "5", "type": "text"}], "isError": False}},
            None,
            Cleaned("5"),
            id="0.8",
        ),
        pytest.param(
            {"content": [{"type": "text", "text": "5"}], "structured_content": {"sum": 5}},
            None,
            Cleaned('{"sum":5}'),
            id="exec, structured",
        ),
        pytest.param(
            {
                "content": [{"type": "text", "text": "5"}],
                "structuredContent": {"sum": 5},
                "isError": False,
            },
            None,
            Cleaned('{"sum":5}'),
            id="app-server, structured",
        ),
        pytest.param(
            {"content": [{"type": "text", "text": "boom happened"}], "isError": True},
            None,
            Cleaned("boom happened", is_error=True),
            id="the tool failed",
        ),
        pytest.param(
            {
                "content": [
                    {"type": "text", "text": "a"},
                    {"type": "image", "mimeType": "image/png"},
                ]
            },
            None,
            Cleaned("a\n[image image/png]"),
            id="text and a picture",
        ),
        pytest.param({"Err": "gone"}, None, Cleaned("gone", is_error=True), id="the call failed"),
        pytest.param(
            {"Err": {"code": 1}}, None, Cleaned('{"code":1}', is_error=True), id="with a code"
        ),
        pytest.param(
            None,
            {"message": "user cancelled MCP tool call"},
            Cleaned("user cancelled MCP tool call", is_error=True),
            id="an error beside it",
        ),
        pytest.param(None, "gone", Cleaned("gone", is_error=True), id="an error in words"),
        pytest.param(None, {"code": 1}, Cleaned('{"code":1}', is_error=True), id="an odd error"),
        pytest.param("plain", None, Cleaned("plain"), id="words"),
        pytest.param(None, None, Cleaned(""), id="nothing"),
    ],
)
def test_the_result_in_an_event_or_item_becomes_text(
    result: Any, error: Any, cleaned: Cleaned
) -> None:
    assert mcp_result(result, error) == cleaned


def test_the_answer_of_a_dynamic_tool_is_its_texts() -> None:
    items = [
        {"type": "inputText", "text": "Ticket ABC-123 is open"},
        {"type": "inputImage", "imageUrl": PIXEL},
    ]

    assert content_text(items) == "Ticket ABC-123 is open\n[image image/png]"
    assert content_text(None) == ""


@pytest.mark.parametrize(("value", "code"), [(3, 3), (0, 0), (True, None), ("3", None)])
def test_an_exit_code_is_a_whole_number(value: Any, code: int | None) -> None:
    assert exit_code_of(value) == code


def test_a_duration_beyond_all_numbers_does_not_raise() -> None:
    output = '{"output":"x","metadata":{"exit_code":0,"duration_seconds":1e308}}'

    assert clean(output) == Cleaned("x", 0)


def test_a_duration_in_metadata_is_never_negative() -> None:
    output = '{"output":"x","metadata":{"exit_code":0,"duration_seconds":-1}}'

    assert clean(output).duration_ms is None


_WORDS = (
    "rejected",
    " by user",
    "exec command ",
    "patch ",
    "Rejected(",
    "REJECTED",
    "\u017f",
    "\u212a",
    "İ",
    " ",
)


@given(st.lists(st.sampled_from(_WORDS) | st.text(max_size=3), max_size=6), st.randoms())
def test_the_substring_is_in_all_that_the_pattern_finds(words: list[str], chance: Any) -> None:
    text = "".join(chance.choice((each.upper(), each.lower(), each)) for each in "".join(words))
    if _DECLINED.search(text):
        assert _IN_DECLINED in text.lower()
