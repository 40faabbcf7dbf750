"""The names in the schema of the app-server protocol: methods, fields, kinds of things, values.

A schema is what ``codex app-server generate-json-schema`` writes. Only what can come over the wire to us, or
what we send, is taken: everything that can be reached from notifications and from requests of the server, and
the names of the requests of the client. A name is one of

* ``notification thread/started``, ``request item/tool/call``, ``call thread/start``: a method,
* ``Thread.cwd``: a field, ``ThreadItem(plan)``: a variant, ``ThreadItem(plan).text``: a field of that variant,
* ``AskForApproval=never``: a value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from dragoman.harnesses.codex.values.loose import as_dict, as_list, as_str

_KINDS: Final = {
    "ServerNotification": "notification",
    "ServerRequest": "request",
    "ClientRequest": "call",
}
_ANSWERS: Final = (
    "ApprovalResponse",
    "UserInputResponse",
    "ElicitationRequestResponse",
    "CallResponse",
)
"""How the names end of what the client answers the server with."""
_ASKS: Final = ("ThreadStartParams", "TurnStartParams", "ThreadResumeParams", "TurnSteerParams")
"""What a client opens sessions and turns with."""
_TAGS: Final = ("type", "method")


def names(schema: dict[str, Any]) -> set[str]:
    """The names in a schema that has all definitions of the protocol."""
    return _Reader(schema).names()


class _Reader:
    def __init__(self, schema: dict[str, Any]) -> None:
        definitions = dict(as_dict(schema.get("definitions")))
        newer = as_dict(definitions.pop("v2", None))
        self._definitions = {**definitions, **newer}
        self._found: set[str] = set()
        self._seen: set[str] = set()
        self._todo: list[str] = []

    def names(self) -> set[str]:
        for name, kind in _KINDS.items():
            for method, params in self._methods(name):
                self._found.add(f"{kind} {method}")
                if kind != "call":
                    self._refer(params)
        for name in self._definitions:
            if name.endswith(_ANSWERS) or name in _ASKS:
                self._refer({"$ref": f"/{name}"})
        while self._todo:
            name = self._todo.pop()
            self._walk(name, as_dict(self._definitions.get(name)))
        return self._found

    def _methods(self, name: str) -> Iterator[tuple[str, Any]]:
        for each in as_list(as_dict(self._definitions.get(name)).get("oneOf")):
            properties = as_dict(as_dict(each).get("properties"))
            method = as_list(as_dict(properties.get("method")).get("enum"))
            if method and isinstance(method[0], str):
                yield method[0], properties.get("params")

    def _refer(self, value: Any) -> None:
        """Remember to look at what is referred to."""
        given = as_dict(value)
        name = (as_str(given.get("$ref")) or "").rpartition("/")[2]
        if name and name not in self._seen:
            self._seen.add(name)
            self._todo.append(name)

    def _walk(self, name: str, shape: dict[str, Any]) -> None:
        if not shape:
            return
        self._refer(shape)
        for value in (*as_list(shape.get("enum")), shape.get("const")):
            if isinstance(value, str):
                self._found.add(f"{name}={value}")
        properties = as_dict(shape.get("properties"))
        kind = next(filter(None, (_only(properties.get(tag)) for tag in _TAGS)), None)
        owner = f"{name}({kind})" if kind else name
        if kind:
            self._found.add(owner)
        for field, inner in properties.items():
            if kind and field in _TAGS:
                continue
            self._found.add(f"{owner}.{field}")
            self._walk(f"{owner}.{field}", as_dict(inner))
        for either in ("oneOf", "anyOf", "allOf"):
            for part in as_list(shape.get(either)):
                self._walk(name, as_dict(part))
        for inside in ("items", "additionalProperties"):
            self._walk(f"{name}[]", as_dict(shape.get(inside)))


def _only(shape: Any) -> str | None:
    """The value of a field that can have only one."""
    values = as_list(as_dict(shape).get("enum"))
    return as_str(values[0]) if len(values) == 1 else None
