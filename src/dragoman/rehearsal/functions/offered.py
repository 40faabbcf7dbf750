"""The functions that a request offers, and what each kind of agent calls its tools and their arguments.

Everything that differs between Gemini, Copilot, Qwen and opencode is in the tables here. The schema in the
request decides: an argument gets the first of its names that the schema has.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec

from dragoman.rehearsal.requests import mapping, mappings

TOOLS: dict[str, tuple[str, ...]] = {
    "run": ("run_shell_command", "bash"),
    "read": ("read_file", "view", "read"),
    "write": ("write_file", "create", "write"),
    "edit": ("replace", "edit"),
    "patch": ("apply_patch",),
    "plan": ("write_todos", "todo_write", "todowrite"),
    "plan as rows": ("sql",),
    "agent": ("invoke_agent", "agent", "task"),
    "ask": ("ask_user", "ask_user_question", "question"),
    "search": ("google_web_search", "web_search", "websearch"),
    "deferred": ("tool_call",),
    "finish": ("complete_task",),
}
"""What a tool is for, and the names it goes by."""

_NAMES: dict[str, tuple[str, ...]] = {
    "workdir": ("dir_path", "directory", "workdir"),
    "path": ("file_path", "filePath", "absolute_path", "path"),
    "text": ("content", "file_text"),
    "old": ("old_string", "oldString", "old_str"),
    "new": ("new_string", "newString", "new_str"),
    "helper": ("agent_name", "subagent_type", "agent_type"),
    "background": ("run_in_background",),
    "result": ("result", "response"),
    "patch": ("input", "patch"),
}
"""The names of an argument; one that is not here has its own name only."""

_HELPERS = {
    "agent_name": "generalist",
    "agent_type": "general-purpose",
    "subagent_type": "general-purpose",
}
_READ_FIRST = ("file_path", "filePath")
"""A tool called ``edit`` with such an argument refuses a file that was not read."""


class OfferedFunction(msgspec.Struct, frozen=True):
    """One function of a request."""

    name: str
    schema: dict[str, Any]

    @property
    def properties(self) -> dict[str, Any]:
        """Its arguments."""
        return mapping(self.schema.get("properties"))

    @property
    def reads_first(self) -> bool:
        """Whether it refuses a file that was not read before."""
        return self.name == "edit" and any(name in self.properties for name in _READ_FIRST)

    def named(self, role: str) -> str | None:
        """What it calls an argument; None if it has none for that."""
        return next((name for name in _NAMES.get(role, (role,)) if name in self.properties), None)

    def arguments(self, given: dict[str, Any]) -> dict[str, Any]:
        """The given arguments under its own names. What it lacks is left out, what it needs is filled in."""
        known = {name: value for role, value in given.items() if (name := self.named(role))}
        required = [str(name) for name in self.schema.get("required") or ()]
        missing = [name for name in required if name not in known]
        return known | {name: self._usual(name) for name in missing}

    def holding(self, role: str, text: str) -> Any:
        """A value for an argument that says the text, whatever its form."""
        schema = mapping(self.properties.get(self.named(role) or ""))
        return smallest(schema, text) if schema.get("type") == "object" else text

    def helper(self) -> str:
        """The kind of sub-agent that can do anything."""
        name = self.named("helper") or ""
        if self.name == "task" and name == "subagent_type":
            return "general"
        return _HELPERS.get(name, "general-purpose")

    def item_names(self, argument: str) -> frozenset[str]:
        """What the entries of a list argument consist of."""
        items = mapping(mapping(self.properties.get(argument)).get("items"))
        return frozenset(mapping(items.get("properties")))

    def _usual(self, name: str) -> Any:
        schema = mapping(self.properties.get(name))
        return schema["enum"][0] if schema.get("enum") else smallest(schema, "As the script says")


def offered_functions(tools: Any) -> list[OfferedFunction]:
    """The functions among the tools of a request, in the form of either API."""
    found: list[OfferedFunction] = []
    for tool in mappings(tools):
        # One API wraps each function, the other puts all of them into one list.
        declared = mappings(tool.get("functionDeclarations")) or [mapping(tool.get("function"))]
        for each in declared:
            schema = each.get("parameters") or each.get("parametersJsonSchema")
            if "name" in each:
                found.append(OfferedFunction(str(each["name"]), mapping(schema)))
    return found


def smallest(schema: dict[str, Any], text: str) -> Any:
    """The smallest value that fits a JSON schema, for the schemas that agents use."""
    if schema.get("enum"):
        return schema["enum"][0]
    kind: Any = schema.get("type")
    if isinstance(kind, list) and kind:
        kind = cast("list[Any]", kind)[0]
    name = kind if isinstance(kind, str) else "string"
    match name.lower():
        case "object":
            fields = mapping(schema.get("properties"))
            required = schema.get("required") or ()
            return {field: smallest(mapping(fields.get(field)), text) for field in required}
        case "array":
            return []
        case "boolean":
            return False
        case "integer" | "number":
            return 0
        case _:
            return text
