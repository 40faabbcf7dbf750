"""The hub: live sessions of one agent, stored first and then told to whoever reads them.

SIGNATURES ONLY for the moment: the bodies follow.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from dragoman.crew.connection import Connection
from dragoman.crew.hub_shapes import (
    Entry,
    Forbidden,
    Gap,
    HarnessInfo,
    KeyUsedDifferently,
    LiveSession,
    Passing,
    PendingApproval,
    SessionChanged,
    SessionState,
    Told,
    UnknownSession,
)
from dragoman.model.intents import Sandbox

__all__ = [
    "Entry",
    "Forbidden",
    "Gap",
    "HarnessInfo",
    "Hub",
    "KeyUsedDifferently",
    "LiveSession",
    "Passing",
    "PendingApproval",
    "SessionChanged",
    "SessionState",
    "Told",
    "UnknownSession",
]


class Reader:
    """An async iterator over what a session says; ``await some()`` gives all that is there, at least one."""

    def __aiter__(self) -> Reader: ...
    async def __anext__(self) -> Told: ...
    async def some(self, most: int = 64) -> list[Told]: ...
    def close(self) -> None: ...


class ListReader:
    """An async iterator over changes of sessions, the newest of each."""

    def __aiter__(self) -> ListReader: ...
    async def __anext__(self) -> SessionChanged: ...
    def close(self) -> None: ...


class Hub:
    def __init__(
        self,
        data_dir: str | os.PathLike[str],
        *,
        connection: Connection | None = None,
        roots: Iterable[str | os.PathLike[str]] = (),
        policy_path: str | os.PathLike[str] | None = None,
        harness: str | None = None,
    ) -> None: ...
    async def __aenter__(self) -> Hub: ...
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    @property
    def roots(self) -> list[Path]: ...
    def harnesses(self) -> list[HarnessInfo]: ...
    async def models(self) -> Any: ...
    def sessions(self) -> list[LiveSession]: ...
    def get(self, session_id: str) -> LiveSession: ...
    def allowed(self, path: str | os.PathLike[str]) -> str:
        """The path, resolved. Raises Forbidden."""
        ...

    async def start(
        self,
        *,
        cwd: str | os.PathLike[str],
        prompt: str | None = None,
        images: Sequence[str] = (),
        model: str | None = None,
        effort: str | None = None,
        sandbox: Sandbox = "workspace-write",
        approvals: Any = "on-request",
        idempotency_key: str | None = None,
        resume: str | None = None,
    ) -> LiveSession: ...
    async def run(
        self,
        session_id: str,
        text: str,
        *,
        images: Sequence[str] = (),
        model: str | None = None,
        effort: str | None = None,
    ) -> str | None: ...
    async def steer(
        self, session_id: str, text: str, *, images: Sequence[str] = ()
    ) -> None: ...  # ProtocolError when no turn is under way
    async def interrupt(self, session_id: str) -> None: ...
    async def fork(self, session_id: str) -> LiveSession: ...
    async def rename(self, session_id: str, name: str) -> None: ...
    async def archive(self, session_id: str, *, archived: bool = True) -> None: ...
    async def stop(self, session_id: str) -> None: ...
    def approvals(self, session_id: str | None = None) -> list[PendingApproval]: ...
    def decide(
        self,
        approval_id: str,
        decision: str,
        *,
        session_id: str,
        message: str | None = None,
        answers: dict[str, list[str]] | None = None,
        content: dict[str, Any] | None = None,
    ) -> bool:
        """False: it is not open (any more). UsageError: no such decision."""
        ...

    def past_requests(self, *, limit: int = 200) -> list[Entry]:
        """The newest approval_requested entries of all sessions, for the policy's dry run."""
        ...

    def policy_text(self) -> str: ...
    def check_policy(self, text: str, *, limit: int = 200) -> list[Any]:
        """Dry run; raises BadPolicy (a UsageError). Each: session_id, seq, request, decision, by."""
        ...

    def save_policy(self, text: str) -> None:
        """Checked, written and in force from now on."""
        ...

    def entries(self, session_id: str, *, after: int = 0, limit: int = 500) -> list[Entry]: ...
    def before(self, session_id: str, *, seq: int, limit: int = 500) -> list[Entry]:
        """The entries just before ``seq``, oldest first."""
        ...

    def subscribe(self, session_id: str, *, after: int = 0) -> Reader: ...
    def subscribe_all(self) -> ListReader: ...
    def verify(self) -> list[str]:
        """What is wrong with the store, in sentences."""
        ...
