"""Reading values whose type nobody promises: each function gives the type it names, or nothing."""

from __future__ import annotations

import re
from typing import Any, Final, cast

_HUMPS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LARGEST: Final = 1 << 62
"""What is larger counts nothing."""


def as_dict(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def as_str(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def as_int(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if -_LARGEST <= value <= _LARGEST else None


def as_count(value: Any) -> int:
    """How many, where nothing sensible means none."""
    return max(0, as_int(value) or 0)


def as_number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None  # more digits than any count has


def snake_case(name: str) -> str:
    """``threadId`` and ``ThreadId`` as ``thread_id``; names already so stay."""
    return _HUMPS.sub("_", name).lower()


_OPAQUE: Final = frozenset(
    ("arguments", "changes", "file_changes", "result", "action", "questions", "permissions",
     "content_items", "review_output", "agents_states", "statuses")
)  # fmt: skip
"""Fields whose inside belongs to somebody else: its keys are paths, or a tool's own names."""


def snake_keys(value: Any) -> Any:
    """The same value with its keys in snake_case, for documents that spell the wire in camelCase.

    What is not the wire's own (a tool's arguments, paths of changed files) is left as it is.
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
