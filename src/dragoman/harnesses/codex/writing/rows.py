"""The rows of a rollout, as the releases from 0.44 on write and read them: ``{"timestamp", "type", "payload"}``.

This is the older of Codex's two forms. Every release resumes it and continues the file in the same form, so one
writer serves them all.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from dragoman.harnesses.codex.versions import Version, spelled
from dragoman.harnesses.codex.writing.provider import model_provider
from dragoman.harnesses.contract.writer import NewSession

_Row = dict[str, Any]
TURN_EVENTS: Final = (0, 100, 0)
"""From here on rollouts say where a turn begins and ends."""
HANDOFF: Final = "dragoman_handoff"
"""A row of ours. Codex skips rows of a type that it does not know."""


class RolloutRows:
    """Collects the rows of one rollout."""

    def __init__(self, new: NewSession, release: Version) -> None:
        self._new = new
        self._release = release
        self._at = new.at
        self.lines: list[bytes] = []

    def at(self, moment: datetime | None) -> None:
        """The rows that follow are of this time, if it is known."""
        if moment is not None:
            self._at = moment

    def header(self) -> None:
        new = self._new
        source = {"harness": new.source.harness, "session_id": new.source.session_id}
        meta = {
            "id": new.session_id,
            "timestamp": _written(new.at),
            "cwd": new.cwd,
            "originator": "dragoman",
            "cli_version": spelled(self._release),
            "instructions": None,
            "model_provider": model_provider(new.settings),
            "source": "cli",  # a session that a person started: Codex's own list shows no others
            HANDOFF: source,
        }
        self._at = new.at
        self._row("session_meta", meta)

    def handed_off(self) -> None:
        """Where the handed-off history ends."""
        self._at = self._new.at
        source = self._new.source
        self._row(HANDOFF, {"harness": source.harness, "session_id": source.session_id})

    def compacted(self, summary: str) -> None:
        self._row("compacted", {"message": summary})

    def item(self, item: _Row) -> None:
        self._row("response_item", item)

    def event(self, kind: str, **fields: Any) -> None:
        self._row("event_msg", {"type": kind, **fields})

    def turn_started(self, turn_id: str) -> None:
        if self._release >= TURN_EVENTS:
            self.event("task_started", turn_id=turn_id, model_context_window=None)

    def turn_completed(self, turn_id: str, last_text: str | None) -> None:
        if self._release >= TURN_EVENTS:
            self.event("task_complete", turn_id=turn_id, last_agent_message=last_text)

    def turn_interrupted(self, turn_id: str) -> None:
        turn = {"turn_id": turn_id} if self._release >= TURN_EVENTS else {}
        self.event("turn_aborted", **turn, reason="interrupted")

    def _row(self, kind: str, payload: _Row) -> None:
        row = {"timestamp": _written(self._at), "type": kind, "payload": payload}
        self.lines.append(msgspec.json.encode(row))


def _written(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
