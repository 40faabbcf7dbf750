"""Remember what a person has allowed for a session.

Codex keeps such an answer as long as it keeps the session in memory, even after the session ended here: the
same command then ran without asking. Therefore the agent only ever gets "allow once", and this module remembers
the rest until the session ends, in every release.

A grant covers the same command in the same directory, edits of the same files, the same permissions, or the same
tool of an MCP server. Forms and questions are always asked. The policy runs first and can still deny.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, cast

import msgspec

from dragoman.drive.approvals.policy import Decision
from dragoman.model.messages import ApprovalRequested

_BY = "allowed for the session"
_DIFFERS = frozenset(("reason", "call_id", "cwd"))
"""The model's stated reason and the name of the call differ each time, and have no effect on what is done. The
directory is a part of the key by itself."""


class Grants:
    """The grants of one open session."""

    def __init__(self) -> None:
        self._allowed: set[Hashable] = set()

    def take(
        self, request: ApprovalRequested, decision: Decision, cwd: str | None = None
    ) -> Decision:
        """Remember a decision that applies to the session; return what to send to the agent."""
        lasts = decision.word == "allow_for_session" or (
            decision.word == "allow_always" and not _remembers(request)
        )
        if not lasts:
            return decision
        self._allowed.update(_keys(request, cwd) or ())
        return msgspec.structs.replace(decision, word="allow")

    def covers(self, request: ApprovalRequested, cwd: str | None = None) -> Decision | None:
        """The earlier decision that covers this request, if any."""
        keys = _keys(request, cwd)
        if not keys or not self._allowed.issuperset(keys):
            return None
        return Decision(word="allow", by=_BY)

    def clear(self) -> None:
        """Forget everything: the session has ended."""
        self._allowed.clear()


def _remembers(request: ApprovalRequested) -> bool:
    """Whether the harness itself can remember the decision."""
    return request.always is not None or "allow_always" in request.choices


def _keys(request: ApprovalRequested, cwd: str | None) -> list[Hashable] | None:
    """The keys that must all be granted; None if the request cannot be granted in advance."""
    detail = {k: v for k, v in request.detail.items() if k not in _DIFFERS}
    folder = request.cwd or cast("str | None", request.detail.get("cwd")) or cwd
    match request.kind:
        case "command" if request.command or detail.get("command"):
            words = request.argv, request.command, request.shell
            return [("command", _text(words), folder, _text(detail))]
        case "edit":
            changes = [cast("dict[str, Any]", each) for each in detail.get("changes") or ()]
            paths = [each.get("path") for each in changes]
            return [("edit", path, folder) for path in paths] if all(paths) else None
        case "permissions":
            return [("permissions", _text(detail), folder)]
        case "tool" if request.tool is not None:
            return [("tool", request.tool, detail.get("server"))]
        case _:
            return None


def _text(value: object) -> bytes:
    return msgspec.json.encode(value, order="deterministic")
