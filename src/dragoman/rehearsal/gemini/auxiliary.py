"""Requests to the Gemini API that are no part of a conversation: routing, summaries, web searches.

The conversation is streamed and offers functions; whatever is not, or wants JSON, is the agent's own business.
"""

from __future__ import annotations

from typing import Any

import msgspec

from dragoman.rehearsal.functions.offered import offered_functions, smallest
from dragoman.rehearsal.requests import HttpRequest, mapping, mappings

_ANSWER = "Rehearsal"
_STREAMED = ":streamGenerateContent"


def auxiliary_parts(request: HttpRequest) -> list[dict[str, Any]] | None:
    """The answer to an auxiliary request; None for a request of the conversation."""
    config = mapping(request.body.get("generationConfig"))
    for name in ("responseSchema", "responseJsonSchema"):
        if isinstance(config.get(name), dict):
            value = smallest(mapping(config[name]), _ANSWER)
            return [{"text": msgspec.json.encode(value).decode()}]
    if config.get("responseMimeType") == "application/json":
        return [{"text": "{}"}]
    offered = offered_functions(request.body.get("tools"))
    if not offered or not request.endpoint.endswith(_STREAMED):
        return [{"text": _ANSWER}]
    return None


def grounding(request: HttpRequest) -> dict[str, Any] | None:
    """What the API's own search found, if the request allows it: one page, on a host that does not exist."""
    if not any("googleSearch" in tool for tool in mappings(request.body.get("tools"))):
        return None
    return {"groundingChunks": [{"web": {"uri": "https://rehearsal.invalid/", "title": _ANSWER}}]}
