"""What is known about a session: release, model, directory, parent."""

from __future__ import annotations

from typing import NamedTuple


class KnownFacts(NamedTuple):
    """The facts of one session. Fields are only added at the end: marks store them as an array."""

    version: str | None = None
    model: str | None = None
    cwd: str | None = None
    parent_session_id: str | None = None
    transport: str | None = None
    parent_call_id: str | None = None

    def updated(self, new: KnownFacts) -> KnownFacts:
        """These facts, replaced by the new ones where those are known."""
        return KnownFacts(*(after or before for before, after in zip(self, new, strict=True)))

    def is_news(self, before: KnownFacts) -> bool:
        """Whether the change is worth a message. The release alone is not: lines of one session,
        written by several releases, would each announce the session."""
        return self[1:] != before[1:]
