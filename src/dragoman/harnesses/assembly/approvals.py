"""The approvals a session has asked for, and which of them are open."""

from __future__ import annotations


class AskedApprovals:
    """Which approvals were requested and settled, in order."""

    __slots__ = ("_is_open",)

    def __init__(self) -> None:
        self._is_open: dict[str, bool] = {}

    def opens(self, approval_id: str) -> bool:
        """Whether this is the first request of this name. A settled approval cannot be reopened."""
        if approval_id in self._is_open:
            return False
        self._is_open[approval_id] = True
        return True

    def settles(self, approval_id: str) -> bool:
        """Whether this is the first answer; also for a request that the stream did not carry."""
        if not self._is_open.get(approval_id, True):
            return False
        self._is_open[approval_id] = False
        return True

    def has_asked(self, approval_id: str) -> bool:
        return approval_id in self._is_open

    def oldest_open(self) -> str | None:
        return next((name for name, is_open in self._is_open.items() if is_open), None)
