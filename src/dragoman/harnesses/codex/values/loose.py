"""Read values whose type is not guaranteed: each function returns the type it names, or nothing."""

from __future__ import annotations

import re
from typing import Any, Final

from dragoman.wire.loose import as_count, as_dict, as_int, as_list, as_number, as_str

__all__ = [
    "as_count",
    "as_dict",
    "as_int",
    "as_list",
    "as_number",
    "as_str",
    "snake_case",
    "snake_keys",
    "texts_in",
]

_HUMPS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def snake_case(name: str) -> str:
    """``threadId`` and ``ThreadId`` as ``thread_id``; names already so stay."""
    return _HUMPS.sub("_", name).lower()


_OPAQUE: Final = frozenset(
    ("arguments", "changes", "file_changes", "result", "action", "questions", "permissions",
     "content_items", "review_output", "agents_states", "statuses")
)  # fmt: skip
"""Fields whose content is not part of the protocol: its keys are paths, or a tool's own names."""


def snake_keys(value: Any) -> Any:
    """The same value with its keys in snake_case, for documents that spell the wire in camelCase.

    Content that is not the wire's own (a tool's arguments, paths of changed files) is left unchanged.
    """
    if isinstance(value, dict):
        spelled = {snake_case(key): inner for key, inner in as_dict(value).items()}
        return {
            key: inner if key in _OPAQUE else snake_keys(inner) for key, inner in spelled.items()
        }
    if isinstance(value, list):
        return [snake_keys(inner) for inner in as_list(value)]
    return value


def texts_in(content: Any) -> str:
    """All the text in a content value, wherever it is nested.

    A string; ``{"text": …}``, ``{"textDelta": …}`` or ``{"delta": …}``; ``{"content": …}`` around
    any of these; or a list of them.
    """
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(texts_in(part) for part in as_list(content))
    parts = as_dict(content)
    for key in ("text", "textDelta", "text_delta", "delta"):
        if isinstance(parts.get(key), str):
            return parts[key]
    inner = parts.get("content", parts.get("delta"))
    return texts_in(inner) if isinstance(inner, dict | list | str) else ""
