"""What a person has allowed for the duration of a session, remembered on our side.

Codex remembers such an answer for as long as it keeps the session in memory, and it keeps it after the session
was ended here: the same command then ran unasked. So the agent is only ever told "yes, this once", and the
memory is ours: it ends with the session, whatever the release.

What is covered: the same command in the same folder, edits of the same files, the same permissions, the same tool
of an MCP server. Forms and questions are answered each time. The policy is asked first and may still deny.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, cast

import msgspec

from dragoman.drive.approvals.policy import Decision
from dragoman.model.messages import ApprovalRequested

_BY = "allowed for the session"
_WORDS_OF_THE_MODEL = "reason"
"""What the model says it is for differs each time, and changes nothing of what is done."""


class Grants:
    """One for each session that is open."""

    def __init__(self) -> None:
        self._allowed: set[Hashable] = set()

    def take(
        self, request: ApprovalRequested, decision: Decision, cwd: str | None = None
    ) -> Decision:
        """Remember a decision that holds for the session; what the agent is told."""
        lasts = decision.word == "allow_for_session" or (
            decision.word == "allow_always" and not _remembers(request)
        )
        if not lasts:
            return decision
        self._allowed.update(_keys(request, cwd) or ())
        return msgspec.structs.replace(decision, word="allow")

    def covers(self, request: ApprovalRequested, cwd: str | None = None) -> Decision | None:
        """The decision that holds for this request, if there is one."""
        keys = _keys(request, cwd)
        if not keys or not self._allowed.issuperset(keys):
            return None
        return Decision(word="allow", by=_BY)

    def clear(self) -> None:
        """The session has ended."""
        self._allowed.clear()


def _remembers(request: ApprovalRequested) -> bool:
    """Whether the harness itself has a rule to remember."""
    return request.always is not None or "allow_always" in request.choices


def _keys(request: ApprovalRequested, cwd: str | None) -> list[Hashable] | None:
    """All that must be allowed for a request to be; None: it cannot be allowed in advance."""
    detail = {k: v for k, v in request.detail.items() if k not in (_WORDS_OF_THE_MODEL, "cwd")}
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
