"""Permission rules that say yes in advance: for this session, or for good.

Claude suggests rules with each request, but some are wider than the request (``touch x *`` for ``touch x``,
all edits for one edit). For the session Dragoman makes the narrowest rule that covers just what was asked;
for good it stores exactly the rule that Claude suggests, because that is the one people were shown.
"""

from __future__ import annotations

from typing import Any, Final

from dragoman.wire.loose import as_dict, as_list, as_str

_EDITS: Final = frozenset(("Edit", "MultiEdit", "Write"))
_LASTING: Final = frozenset(("localSettings", "projectSettings", "userSettings"))
_SPECIAL: Final = frozenset("*():\\")
"""Characters that mean something in a rule for a command, so that it would cover more or less."""


def session_rules(tool: str, asked: dict[str, Any]) -> list[dict[str, Any]]:
    """The permission updates that cover this request until the session ends; [] if none is exact."""
    content: str | None
    if tool == "Bash":
        content = as_str(asked.get("command"))
        if not content or _SPECIAL.intersection(content) or "\n" in content:
            return []
    elif tool in _EDITS:
        path = as_str(asked.get("file_path"))
        if not path or not path.startswith("/") or set("*?[]{}!").intersection(path):
            return []
        tool, content = "Edit", f"/{path}"
    elif tool.startswith("mcp__"):
        content = None
    else:
        return []
    rule = {"toolName": tool} if content is None else {"toolName": tool, "ruleContent": content}
    return [_allow([rule], "session")]


def suggested_rules(suggestions: Any) -> list[dict[str, Any]]:
    """The suggested updates that Claude would store in a settings file."""
    return [
        suggestion
        for suggestion in map(as_dict, as_list(suggestions))
        if suggestion.get("type") == "addRules"
        and suggestion.get("behavior") == "allow"
        and as_str(suggestion.get("destination")) in _LASTING
    ]


def _allow(rules: list[dict[str, Any]], destination: str) -> dict[str, Any]:
    return {
        "type": "addRules",
        "rules": rules,
        "behavior": "allow",
        "destination": destination,
    }
