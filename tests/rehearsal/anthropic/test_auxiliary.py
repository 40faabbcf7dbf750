from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from dragoman.rehearsal.anthropic.auxiliary import auxiliary_blocks, example_of
from dragoman.rehearsal.requests import HttpRequest

_BASH: dict[str, Any] = {"name": "Bash", "input_schema": {}}


def _request(*texts: str, headers: dict[str, str] | None = None, **body: Any) -> HttpRequest:
    content = [{"type": "text", "text": text} for text in texts]
    whole = {"messages": [{"role": "user", "content": content}], "tools": [_BASH], **body}
    return HttpRequest(1, "POST", "/v1/messages", headers or {}, msgspec.json.encode(whole))


@pytest.mark.parametrize(
    "request_",
    [
        _request("<system-reminder>This is a side question from the user. Answer.", "what is it?"),
        _request("Describe your most recent action in 3-5 words using present tense (-ing)."),
        _request("hi", headers={"x-claude-code-request-class": "auxiliary"}),
        _request(
            "<session>\nhi\n</session>",
            tools=[],
            system=[{"type": "text", "text": "Generate a short title for this session."}],
            headers={"user-agent": "claude-cli/2.1.327"},
        ),
    ],
)
def test_what_the_agent_asks_beside_the_conversation_is_known_by_its_words(
    request_: HttpRequest,
) -> None:
    assert auxiliary_blocks(request_) == [{"type": "text", "text": "Rehearsal"}]


@pytest.mark.parametrize(
    "request_",
    [
        _request("hi"),
        _request("hi", tools=[]),
        _request("Why does the log say [SUGGESTION MODE?"),
        _request("Write a title for my page", tools=[]),
        _request(),
    ],
)
def test_a_prompt_is_part_of_the_conversation(request_: HttpRequest) -> None:
    assert auxiliary_blocks(request_) is None


def test_a_suggestion_has_words_enough_to_be_shown() -> None:
    asked = _request("[SUGGESTION MODE: Suggest what the user might naturally type next.]")

    assert auxiliary_blocks(asked) == [{"type": "text", "text": "play the next turn"}]


def test_an_answer_with_a_schema_fits_it() -> None:
    fields = {
        "title": {"type": "string"},
        "new": {"type": "boolean"},
        "count": {"type": "integer"},
        "tags": {"type": "array"},
        "kind": {"enum": ["a", "b"]},
        "more": {"type": "string"},
    }
    schema = {"type": "object", "properties": fields, "required": [*fields][:-1]}
    config = {"format": {"type": "json_schema", "schema": schema}}

    blocks = auxiliary_blocks(_request("a title?", tools=[], output_config=config))

    expected: dict[str, Any] = {
        "title": "Rehearsal",
        "new": False,
        "count": 0,
        "tags": [],
        "kind": "a",
    }
    assert example_of(schema) == expected
    assert blocks is not None
    assert json.loads(blocks[0]["text"]) == expected


def test_the_models_own_search_finds_one_page() -> None:
    tools = [{"type": "web_search_20250305", "name": "web_search"}]

    blocks = auxiliary_blocks(_request("Perform a web search for the query: rain", tools=tools))

    assert blocks is not None
    assert [block["type"] for block in blocks] == [
        "server_tool_use",
        "web_search_tool_result",
        "text",
    ]
    assert blocks[0]["input"] == {"query": "rain"}
    assert blocks[1]["content"][0]["url"].startswith("https://rehearsal.invalid")
