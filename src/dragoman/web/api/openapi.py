"""Completes the OpenAPI document: short operation ids, all error responses, a description of each type.

The framework documents its own error body, which this server never sends, under a single status, and
omits descriptions of types. They are added here, from the docstrings of the types and from
:mod:`~dragoman.web.api.errors`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any, Final, cast

import msgspec

from dragoman.web.api.errors import ErrorBody

NAMES: Final = {
    "harnesses": "list_harnesses",
    "models": "list_models",
    "sessions": "list_sessions",
    "start": "start_session",
    "session": "get_session",
    "rename": "rename_session",
    "archive": "archive_session",
    "unarchive": "unarchive_session",
    "fork": "fork_session",
    "handoff": "hand_off_session",
    "stop": "stop_session",
    "entries": "list_entries",
    "stream": "stream_session",
    "export": "export_session",
    "session_fragments": "list_fragments",
    "approvals": "list_approvals",
    "session_approvals": "list_session_approvals",
    "commands": "list_commands",
    "policy": "get_policy",
    "usage": "get_usage",
}
"""Operation ids that differ from the name of the handler."""
_ALWAYS: Final = {
    "400": "The request is invalid: a field, a parameter, or malformed JSON.",
    "401": "Not signed in.",
    "403": "Forbidden: a request from another page, from a program that an agent started, or outside the roots.",
    "421": "The server does not serve this host name.",
    "500": "Internal error; see the server's log.",
    "503": "The agent or the index is not available.",
}
_NAMED: Final = {"404": "The session, approval or turn does not exist."}
_BODY: Final = {"413": "The request body is too large."}
_CHANGES: Final = {
    "409": "Conflict: a running turn, another use of the idempotency key, or a refusal by the agent.",
    "504": "The agent did not answer in time.",
}
_REF: Final = "#/components/schemas/{name}"
SCHEMA_NAMES: Final = {
    "StartTurnBody": "StartTurn",
    "SteerBody": "Steer",
    "DecisionBody": "Decide",
    "RenameBody": "Rename",
    "SessionTurn": "TurnInfo",
    "RememberedRulesInfo": "RememberedRules",
    "ErrorBody": "Refusal",
}
"""Published schema names that differ from the class, because another class in Dragoman has that name.

Generated clients name their types after these: they must not change."""


def name_of(handler: Any, *_: object) -> str:
    """The operation id of a handler."""
    name = str(handler.handler_name)
    return NAMES.get(name, name)


def complete(document: dict[str, Any], types: Iterable[type]) -> dict[str, Any]:
    """The complete document. ``types`` are the types that handlers use."""
    schemas = document["components"]["schemas"]
    _, refusals = msgspec.json.schema_components([ErrorBody], ref_template=_REF)
    schemas.update(refusals)
    known = dict(_described(types))
    for name, schema in schemas.items():
        words = known.get(name) or known.get(name.rpartition("_")[2])
        if words:
            schema["description"] = words
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            _answers(operation["responses"], path, method, operation)
    return _with_public_names(document)


def _with_public_names(value: Any) -> Any:
    if isinstance(value, str):  # a schema's "title", which generators prefer to its key
        return SCHEMA_NAMES.get(value, value)
    if isinstance(value, list):
        return [_with_public_names(each) for each in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    named = cast("dict[str, Any]", value)
    if isinstance(target := named.get("$ref"), str):
        before, slash, name = target.rpartition("/")
        return {**named, "$ref": before + slash + SCHEMA_NAMES.get(name, name)}
    return {SCHEMA_NAMES.get(key, key): _with_public_names(each) for key, each in named.items()}


def _answers(responses: dict[str, Any], path: str, method: str, operation: dict[str, Any]) -> None:
    told = dict(_ALWAYS)
    if "{" in path:
        told |= _NAMED
    if "requestBody" in operation:
        told |= _BODY
    if method != "get" and not path.endswith(("/login", "/logout")):
        told |= _CHANGES
    for status, words in told.items():
        content = {"application/json": {"schema": {"$ref": _REF.format(name="ErrorBody")}}}
        responses[status] = {"description": words, "content": content}


def _described(types: Iterable[type]) -> Iterable[tuple[str, str]]:
    """The name and docstring of each type, and of the types that it contains."""
    seen: set[type] = set()
    left = [ErrorBody, *types]
    while left:
        each = left.pop()
        if each in seen:
            continue
        seen.add(each)
        if each.__doc__:
            yield each.__name__, " ".join(inspect.cleandoc(each.__doc__).split())
        left += _inside(msgspec.inspect.type_info(each))


def _inside(info: Any) -> list[type]:
    if isinstance(info, msgspec.inspect.StructType):
        found = [info.cls]
        for field in info.fields:
            found += _structs(field.type)
        return found
    return _structs(info)


def _structs(info: Any) -> list[type]:
    if isinstance(info, msgspec.inspect.StructType):
        return [info.cls]
    parts: list[Any] = [*getattr(info, "types", ()), *getattr(info, "item_types", ())]
    parts += [getattr(info, name, None) for name in ("item_type", "key_type", "value_type", "type")]
    return [found for part in parts if part is not None for found in _structs(part)]
