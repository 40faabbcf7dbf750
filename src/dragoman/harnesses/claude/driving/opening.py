"""Opens the one session of a process: learns its id, and confirms the permission mode.

Claude names its session when the mode changes, and otherwise not before the first prompt. So the mode is
switched to a harmless other one and to the one that was requested; what Claude then reports is compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dragoman.harnesses.claude.driving.modes import asking_of, mode_of, other_than
from dragoman.harnesses.contract.conversation import Refusal
from dragoman.harnesses.stream_json.driving.channel import ControlChannel
from dragoman.model.intents import OpenSession, SessionFacts
from dragoman.wire.loose import as_str


class ClaudeOpening:
    """One session being opened; ``finish`` takes what came of it."""

    def __init__(
        self,
        intent: OpenSession,
        channel: ControlChannel,
        finish: Callable[[SessionFacts | None, Refusal | None], None],
    ) -> None:
        self._intent = intent
        self._finish = finish
        self.mode = mode_of(intent)
        self._problem: Refusal | None = None
        self._confirmed: str | None = None
        self._session_id = intent.session_id or intent.resume
        channel.request("set_permission_mode", self._switched, mode=other_than(self.mode))
        channel.request("set_permission_mode", self._applied, mode=self.mode)
        # Answered after everything that the two have caused was emitted.
        channel.request("mcp_status", self._done)

    def receive_status(self, session_id: str | None, mode: str | None) -> None:
        """Take what a line says about the session."""
        self._session_id = session_id or self._session_id
        self._confirmed = mode or self._confirmed

    def _switched(self, result: dict[str, Any], refusal: Refusal | None) -> None:
        """Whether another mode could be applied for a moment is of no interest."""

    def _applied(self, result: dict[str, Any], refusal: Refusal | None) -> None:
        if refusal is not None and refusal.kind != "port_exit":
            said = f"requested the permission mode {self.mode!r}: {refusal.message}"
            self._problem = Refusal(kind="authority", message=said)
        self._confirmed = as_str(result.get("mode")) or self._confirmed

    def _done(self, result: dict[str, Any], refusal: Refusal | None) -> None:
        intent = self._intent
        if refusal is not None and refusal.kind == "port_exit":
            self._finish(None, refusal)
        elif self._problem is not None:
            self._finish(None, self._problem)
        elif self._confirmed != self.mode:
            applied = "nothing that it names" if self._confirmed is None else repr(self._confirmed)
            said = f"requested the permission mode {self.mode!r}, Claude applies {applied}"
            self._finish(None, Refusal(kind="authority", message=said))
        elif self._session_id is None:
            said = "this release does not name its session before the first prompt"
            self._finish(None, Refusal(kind="unsupported", message=said))
        else:
            facts = SessionFacts(
                session_id=self._session_id,
                model=intent.model,
                cwd=intent.cwd,
                access=self._confirmed,
                sandbox=self._confirmed,
                approvals=asking_of(intent),
                resumed=intent.resume is not None and intent.fork is None,
                parent_session_id=intent.fork,
            )
            self._finish(facts, None)
