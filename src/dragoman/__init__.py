"""Dragoman: one typed stream of messages from everything a coding agent says.

>>> for message in dragoman.read("rollout.jsonl"):  # doctest: +SKIP
...     print(message)

The public names are the ones in ``__all__``; each is imported when it is first used, so that
``import dragoman`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from dragoman.archive.audit import Account, audit
    from dragoman.archive.mapper import Mapper
    from dragoman.archive.reading import read
    from dragoman.errors import (
        DragomanError,
        UnknownDialect,
        UnknownFormat,
        UnreadableSource,
        UsageError,
    )
    from dragoman.model.messages import (
        ApprovalRequested,
        ApprovalSettled,
        Compacted,
        Context,
        Delta,
        Diff,
        Malformed,
        Message,
        Notice,
        Plan,
        PlanStep,
        Prompt,
        RateLimits,
        RateWindow,
        SessionEnded,
        SessionStarted,
        Text,
        Thinking,
        ToolCall,
        ToolResult,
        TurnEnded,
        TurnError,
        TurnStarted,
        Unknown,
        UsageReport,
        decode,
        encode,
    )
    from dragoman.model.turns import Turn, Use, fold
    from dragoman.model.usage import Usage

_MESSAGES = "dragoman.model.messages"
_PLACES = {
    "Account": "dragoman.archive.audit",
    "audit": "dragoman.archive.audit",
    "Mapper": "dragoman.archive.mapper",
    "read": "dragoman.archive.reading",
    "DragomanError": "dragoman.errors",
    "UnknownDialect": "dragoman.errors",
    "UnknownFormat": "dragoman.errors",
    "UnreadableSource": "dragoman.errors",
    "UsageError": "dragoman.errors",
    "Turn": "dragoman.model.turns",
    "Use": "dragoman.model.turns",
    "fold": "dragoman.model.turns",
    "Usage": "dragoman.model.usage",
}

__all__ = [
    "Account",
    "ApprovalRequested",
    "ApprovalSettled",
    "Compacted",
    "Context",
    "Delta",
    "Diff",
    "DragomanError",
    "Malformed",
    "Mapper",
    "Message",
    "Notice",
    "Plan",
    "PlanStep",
    "Prompt",
    "RateLimits",
    "RateWindow",
    "SessionEnded",
    "SessionStarted",
    "Text",
    "Thinking",
    "ToolCall",
    "ToolResult",
    "Turn",
    "TurnEnded",
    "TurnError",
    "TurnStarted",
    "Unknown",
    "UnknownDialect",
    "UnknownFormat",
    "UnreadableSource",
    "Usage",
    "UsageError",
    "UsageReport",
    "Use",
    "__version__",
    "audit",
    "decode",
    "encode",
    "fold",
    "read",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'dragoman' has no attribute {name!r}")
    value = getattr(importlib.import_module(_PLACES.get(name, _MESSAGES)), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
