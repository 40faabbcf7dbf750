"""The rows of a session file, under the file's own names: as much of each as is read.

What another program may put there is ``Any``: a value of the wrong type must not hide the rest of the row.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import msgspec


class Row(msgspec.Struct, gc=False, kw_only=True, tag_field="type"):
    """What rows of every kind may have."""

    sessionId: Any = None
    uuid: Any = None
    parentUuid: Any = None
    timestamp: Any = None
    isSidechain: Any = None
    agentId: Any = None
    cwd: Any = None
    version: Any = None
    forkedFrom: Any = None


class Message(msgspec.Struct, gc=False, kw_only=True):
    """A message of the Messages API."""

    id: Any = None
    model: Any = None
    content: Any = None
    stop_reason: Any = None
    usage: Any = None


class User(Row, kw_only=True, tag="user"):
    message: Message
    isMeta: Any = None
    isCompactSummary: Any = None
    origin: Any = None
    promptSource: Any = None
    turnPosition: Any = None
    toolUseResult: Any = None
    toolDenialKind: Any = None
    permissionDecision: Any = None


class Assistant(Row, kw_only=True, tag="assistant"):
    message: Message
    apiBlockIndex: Any = None
    isAbortedMidStream: Any = None
    requestSessionId: Any = None
    error: Any = None
    isApiErrorMessage: Any = None
    apiErrorStatus: Any = None
    apiErrorType: Any = None
    apiError: Any = None


class System(Row, kw_only=True, tag="system"):
    subtype: str = ""
    content: Any = None
    level: Any = None
    error: Any = None
    retryInMs: Any = None
    retryAttempt: Any = None
    maxRetries: Any = None
    hookErrors: Any = None
    requestSessionId: Any = None


class Attachment(Row, kw_only=True, tag="attachment"):
    attachment: Any = None
    rendered: Any = None
    renderedRole: Any = None


class CostState(Row, kw_only=True, tag="cost-state"):
    totalCostUSD: Any = None


class QueueOperation(Row, kw_only=True, tag="queue-operation"):
    pass


class LastPrompt(Row, kw_only=True, tag="last-prompt"):
    pass


class CustomTitle(Row, kw_only=True, tag="custom-title"):
    customTitle: Any = None


class AiTitle(Row, kw_only=True, tag="ai-title"):
    aiTitle: Any = None


class Summary(Row, kw_only=True, tag="summary"):
    summary: Any = None


class Handoff(Row, kw_only=True, tag="dragoman-handoff"):
    """Where Dragoman has handed this session off from: the first row, and where that history ends."""

    handedOffFrom: Any = None
    isEnd: Any = None


AnyRow: TypeAlias = (
    User
    | Assistant
    | System
    | Attachment
    | CostState
    | QueueOperation
    | LastPrompt
    | CustomTitle
    | AiTitle
    | Summary
    | Handoff
)

decode_row = msgspec.json.Decoder(AnyRow).decode


class _Tag(msgspec.Struct, gc=False):
    type: str = ""


decode_tag = msgspec.json.Decoder(_Tag).decode

BOOKKEEPING: Final = frozenset(
    ("mode", "permission-mode", "agent-name", "agent-color", "agent-setting", "tools-used",
     "atis-latch", "isolation-latch", "dev-mods", "api-request", "api-request-shape",
     "api-request-blob", "file-history-snapshot", "file-history-delta", "worktree-state",
     "pr-link", "frame-link", "tag", "derived-from", "continued-in", "ended-by-model",
     "fork-context-ref", "observer-ref", "data-flow-records", "data-flow-incomplete",
     "artifact-comment-monitor", "artifact-autoreact-ledger", "content-replacement",
     "attribution-snapshot", "speculation-accept", "progress", "task-summary")
)  # fmt: skip
"""Rows by which the program finds its way in its own files. They say nothing that is not said elsewhere."""
