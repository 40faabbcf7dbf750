"""The OpenAPI document as clients need it: short names of operations, what each answers when it refuses, what each type is.

The framework writes down its own error bodies, which are never sent here, one status for them, and no description of a
type. What it leaves out is put in from where it is already said: the docstrings of the types, and
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
    "sessions": "list_sessions",
    "start": "start_session",
    "session": "get_session",
    "rename": "rename_session",
    "archive": "archive_session",
    "unarchive": "unarchive_session",
    "fork": "fork_session",
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
"""Operations that are not simply called as their handler is."""
_ALWAYS: Final = {
    "400": "The request does not fit: a field, a parameter, or JSON that cannot be read.",
    "401": "Not signed in.",
    "403": "Refused: from another page, from a program that an agent started, or outside of the roots.",
    "421": "The server does not answer to this host name.",
    "500": "A mistake of the server; its log has more.",
    "503": "The agent, or the index, is not there.",
}
_NAMED: Final = {"404": "There is no such session, approval or turn."}
_BODY: Final = {"413": "The request is too large."}
_CHANGES: Final = {
    "409": "It conflicts with what is: a turn under way, another use of the key, a refusal by the agent.",
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
    """The name of an operation, for the framework."""
    name = str(handler.handler_name)
    return NAMES.get(name, name)


def complete(document: dict[str, Any], types: Iterable[type]) -> dict[str, Any]:
    """The document, with all that is answered and what each type is. ``types`` are those that handlers use."""
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
    """What each type says of itself, and each that it has in it."""
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
