"""Dragoman: one typed stream of messages from everything a coding agent says.

>>> for message in dragoman.read("rollout.jsonl"):  # doctest: +SKIP
...     print(message)

The public names are the ones in ``__all__``; each is imported when it is first used, so that
``import dragoman`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from dragoman.about import VERSION

__version__ = VERSION

if TYPE_CHECKING:
    from dragoman.archive.api import archive
    from dragoman.client import sync
    from dragoman.client.connecting import connect
    from dragoman.client.connection import Connection
    from dragoman.client.sync import run
    from dragoman.drive.agent import Agent
    from dragoman.drive.approvals.policy import Decision
    from dragoman.drive.approvals.policy_file import read_policy
    from dragoman.drive.approvals.rules import Rules, rule
    from dragoman.drive.links.ssh import Remote
    from dragoman.drive.restarting import Restarts
    from dragoman.drive.session import Session
    from dragoman.drive.timeouts import Timeouts
    from dragoman.drive.tools.toolbox import Image, tool
    from dragoman.drive.turns.running import Result
    from dragoman.errors import (
        AgentError,
        AgentNotFound,
        AuthorityMismatch,
        DragomanError,
        InvalidWorkspace,
        ProcessExited,
        ResponseError,
        ResponseTimeout,
        Stalled,
        TurnFailed,
        TurnInterrupted,
        TurnTimeout,
        UnknownDialect,
        UnknownFormat,
        UnreadableSource,
        Unsupported,
        UsageError,
    )
    from dragoman.model.messages import (
        AlwaysAllow,
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
    from dragoman.reading.audit import Account, audit
    from dragoman.reading.many import read_many
    from dragoman.reading.mapper import Mapper
    from dragoman.reading.read import read

_MESSAGES = "dragoman.model.messages"
_ERRORS = "dragoman.errors"
_MODULES = {"archive": "dragoman.archive", "sync": "dragoman.client.sync"}
"""Public names that are modules; ``dragoman.archive`` can be called as well."""
_PLACES = {
    "Account": "dragoman.reading.audit",
    "audit": "dragoman.reading.audit",
    "Mapper": "dragoman.reading.mapper",
    "read": "dragoman.reading.read",
    "read_many": "dragoman.reading.many",
    "Connection": "dragoman.client.connection",
    "connect": "dragoman.client.connecting",
    "run": "dragoman.client.sync",
    "Agent": "dragoman.drive.agent",
    "Decision": "dragoman.drive.approvals.policy",
    "read_policy": "dragoman.drive.approvals.policy_file",
    "Restarts": "dragoman.drive.restarting",
    "Rules": "dragoman.drive.approvals.rules",
    "rule": "dragoman.drive.approvals.rules",
    "Session": "dragoman.drive.session",
    "Remote": "dragoman.drive.links.ssh",
    "Timeouts": "dragoman.drive.timeouts",
    "Image": "dragoman.drive.tools.toolbox",
    "tool": "dragoman.drive.tools.toolbox",
    "Result": "dragoman.drive.turns.running",
    "AgentError": _ERRORS,
    "AgentNotFound": _ERRORS,
    "AuthorityMismatch": _ERRORS,
    "DragomanError": _ERRORS,
    "InvalidWorkspace": _ERRORS,
    "ProcessExited": _ERRORS,
    "ResponseError": _ERRORS,
    "ResponseTimeout": _ERRORS,
    "Stalled": _ERRORS,
    "TurnFailed": _ERRORS,
    "TurnInterrupted": _ERRORS,
    "TurnTimeout": _ERRORS,
    "UnknownDialect": _ERRORS,
    "UnknownFormat": _ERRORS,
    "UnreadableSource": _ERRORS,
    "Unsupported": _ERRORS,
    "UsageError": _ERRORS,
    "Turn": "dragoman.model.turns",
    "Use": "dragoman.model.turns",
    "fold": "dragoman.model.turns",
    "Usage": "dragoman.model.usage",
}

__all__ = [
    "Account",
    "Agent",
    "AgentError",
    "AgentNotFound",
    "AlwaysAllow",
    "ApprovalRequested",
    "ApprovalSettled",
    "AuthorityMismatch",
    "Compacted",
    "Connection",
    "Context",
    "Decision",
    "Delta",
    "Diff",
    "DragomanError",
    "Image",
    "InvalidWorkspace",
    "Malformed",
    "Mapper",
    "Message",
    "Notice",
    "Plan",
    "PlanStep",
    "ProcessExited",
    "Prompt",
    "RateLimits",
    "RateWindow",
    "Remote",
    "ResponseError",
    "ResponseTimeout",
    "Restarts",
    "Result",
    "Rules",
    "Session",
    "SessionEnded",
    "SessionStarted",
    "Stalled",
    "Text",
    "Thinking",
    "Timeouts",
    "ToolCall",
    "ToolResult",
    "Turn",
    "TurnEnded",
    "TurnError",
    "TurnFailed",
    "TurnInterrupted",
    "TurnStarted",
    "TurnTimeout",
    "Unknown",
    "UnknownDialect",
    "UnknownFormat",
    "UnreadableSource",
    "Unsupported",
    "Usage",
    "UsageError",
    "UsageReport",
    "Use",
    "__version__",
    "archive",
    "audit",
    "connect",
    "decode",
    "encode",
    "fold",
    "read",
    "read_many",
    "read_policy",
    "rule",
    "run",
    "sync",
    "tool",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'dragoman' has no attribute {name!r}")
    if name in _MODULES:
        value = importlib.import_module(_MODULES[name])
    else:
        value = getattr(importlib.import_module(_PLACES.get(name, _MESSAGES)), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
