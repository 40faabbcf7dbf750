"""Requests for a chat completion that are no part of a conversation: titles, memories, verdicts on commands.

They are recognized by their content: the conversation always offers the tool that runs commands or reads files.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from dragoman.rehearsal.functions.offered import offered_functions, smallest
from dragoman.rehearsal.requests import HttpRequest, mapping, mappings, text_of

_ANSWER = "Rehearsal"
_TASKS = re.compile(
    r"You are a title generator|Generate a title for this conversation"
    r"|memory extraction|extract(?:ion)? (?:of )?(?:durable |long-term )?memor"
    r"|\[SUGGESTION MODE",
    re.IGNORECASE,
)


def auxiliary_parts(request: HttpRequest) -> list[dict[str, Any]] | None:
    """The answer to an auxiliary request; None for a request of the conversation."""
    body = request.body
    messages = mappings(body.get("messages"))
    offered = offered_functions(body.get("tools"))
    schema = _schema(body)
    if schema is not None:
        return [{"text": msgspec.json.encode(smallest(schema, _ANSWER)).decode()}]
    system = "\n".join(text_of(each.get("content")) for each in messages[:1])
    last = text_of(messages[-1].get("content")) if messages else ""
    if not offered or _TASKS.search(system[:2000]) or _TASKS.match(last):
        return [{"text": _ANSWER}]
    return None


def _schema(body: dict[str, Any]) -> dict[str, Any] | None:
    """The JSON schema that the answer must fit, if there is one."""
    form = mapping(body.get("response_format"))
    if form.get("type") == "json_schema":
        return mapping(mapping(form.get("json_schema")).get("schema"))
    return {"type": "object"} if form.get("type") == "json_object" else None
