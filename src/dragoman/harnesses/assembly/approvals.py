"""Emit the approvals a session asks for, and how each was settled."""

from __future__ import annotations

from typing import Any

from dragoman.harnesses.assembly.output import SessionOutput
from dragoman.model.messages import AlwaysAllow, ApprovalKind, ApprovalRequested, ApprovalSettled


class SessionApprovals:
    """Which approvals were requested and settled, in order."""

    __slots__ = ("_is_open", "_out")

    def __init__(self, out: SessionOutput) -> None:
        self._out = out
        self._is_open: dict[str, bool] = {}

    def ask(
        self,
        approval_id: str,
        kind: ApprovalKind,
        *,
        tool: str | None,
        summary: str,
        detail: dict[str, Any],
        choices: list[str],
        command: str | None = None,
        argv: list[str] | None = None,
        shell: str | None = None,
        cwd: str | None = None,
        always: AlwaysAllow | None = None,
        form: dict[str, Any] | None = None,
        url: str | None = None,
    ) -> None:
        """The agent asks for an approval."""
        if approval_id in self._is_open:  # one that is settled cannot be reopened
            self._out.duplicate("approval: requested before")
            return
        self._is_open[approval_id] = True
        self._out.emit(
            ApprovalRequested,
            approval_id=approval_id,
            kind=kind,
            tool=tool,
            summary=summary,
            detail=detail,
            choices=choices,
            command=command,
            argv=argv,
            shell=shell,
            cwd=cwd,
            always=always,
            form=form,
            url=url,
        )

    def settle(self, approval_id: str, decision: str, detail: dict[str, Any] | None = None) -> None:
        """An approval was answered; its request may not be part of the stream."""
        if not self._is_open.get(approval_id, True):
            self._out.duplicate("approval: settled before")
            return
        self._is_open[approval_id] = False
        self._out.emit(
            ApprovalSettled, approval_id=approval_id, decision=decision, detail=detail or {}
        )

    def has_asked(self, approval_id: str) -> bool:
        return approval_id in self._is_open

    def oldest_open(self) -> str | None:
        """The oldest approval that is still open."""
        return next((name for name, is_open in self._is_open.items() if is_open), None)
