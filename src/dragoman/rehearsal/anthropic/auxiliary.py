"""Auxiliary requests of Claude Code: titles, suggestions, summaries of actions, web searches.

They are not part of the conversation, so they must not take a step of the script. They are recognized by their
content, never by their order; newer releases also name the class of a request in a header.
"""

from __future__ import annotations

import json
import re
from typing import Any, cast

from dragoman.rehearsal.requests import HttpRequest, mappings, text_of

_AUXILIARY = re.compile(
    r"\s*(?:<system-reminder>This is a side question from the user"
    r"|Describe (?:your|the agent's) most recent action in 3-5 words"
    r"|Perform a web search for the query: |Generate a (?:concise|short|succinct)\b[^\n]{0,80}\btitle"
    r"|Analyze if this message indicates a new conversation topic|Web page content:\n---)"
)
_SUGGESTION = re.compile(r"\s*\[SUGGESTION MODE")
_TITLE = re.compile(
    r"(?:Generate|Write|Create|Summarize|come up with)\b[^\n]{0,120}\b(?:title|name|topic)\b",
    re.IGNORECASE,
)
_SEARCH = re.compile(r"Perform a web search for the query: (.*)", re.DOTALL)
_CLASSES = ("auxiliary", "side_reply")
_ANSWER = "Rehearsal"
_NEXT_PROMPT = "play the next turn"  # the agent discards a suggestion of a single word


def auxiliary_blocks(request: HttpRequest) -> list[dict[str, Any]] | None:
    """The answer to an auxiliary request; None for a request of the conversation."""
    messages = mappings(request.body.get("messages"))
    last = text_of(messages[-1].get("content")) if messages else ""
    tools = mappings(request.body.get("tools"))
    if any(str(tool.get("type", "")).startswith("web_search_") for tool in tools):
        return _search(last)
    schema = _schema(request.body)
    if schema is not None and not tools:
        return [{"type": "text", "text": json.dumps(example_of(schema))}]
    named = request.headers.get("x-claude-code-request-class") in _CLASSES
    # A history may quote anything, so only the last message counts, and of its texts the beginnings.
    texts = _texts(messages[-1:])
    if any(map(_SUGGESTION.match, texts)):
        return [{"type": "text", "text": _NEXT_PROMPT}]
    if named or any(map(_AUXILIARY.match, texts)) or (not tools and _is_title(request)):
        return [{"type": "text", "text": _ANSWER}]
    return None


def _texts(messages: list[dict[str, Any]]) -> list[str]:
    contents = [message.get("content") for message in messages]
    blocks = [block for content in contents for block in mappings(content)]
    return [text_of([block]) for block in blocks] + [c for c in contents if isinstance(c, str)]


def _is_title(request: HttpRequest) -> bool:
    if not request.headers.get("user-agent", "").startswith("claude-cli/"):
        return False
    return bool(_TITLE.search(text_of(request.body.get("system"))[:4000]))


def _schema(body: dict[str, Any]) -> dict[str, Any] | None:
    """The JSON schema that the answer must fit, if there is one."""
    for name in ("output_config", "output_format"):
        value = body.get(name)
        if isinstance(value, dict):
            options = cast("dict[str, Any]", value)
            form = options.get("format", options)
            if isinstance(form, dict) and "schema" in form:
                return cast("dict[str, Any]", form["schema"])
    return None


def example_of(schema: dict[str, Any]) -> Any:
    """The smallest value that fits a JSON schema, for the schemas that agents use."""
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            fields = cast("dict[str, dict[str, Any]]", schema.get("properties") or {})
            return {name: example_of(fields.get(name, {})) for name in schema.get("required", [])}
        case "array":
            return []
        case "boolean":
            return False
        case "integer" | "number":
            return 0
        case _:
            return _ANSWER


def _search(prompt: str) -> list[dict[str, Any]]:
    """The search that the API runs itself: one result, on a host that does not exist."""
    found = _SEARCH.search(prompt)
    query = found[1].strip() if found else prompt
    ident = "srvtoolu_rehearsal"
    page = {"type": "web_search_result", "title": query, "url": "https://rehearsal.invalid/"}
    result = {**page, "encrypted_content": "cmVoZWFyc2Fs", "page_age": None}
    call = {"type": "server_tool_use", "id": ident, "name": "web_search", "input": {"query": query}}
    return [
        call,
        {"type": "web_search_tool_result", "tool_use_id": ident, "content": [result]},
        {"type": "text", "text": f"Found one page for {query}."},
    ]
