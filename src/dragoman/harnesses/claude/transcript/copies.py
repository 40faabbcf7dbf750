"""Rows that a fork copied from its parent: whose they are.

A fork writes its parent's rows again under its own ``sessionId``, with the ids and times they had. Three things
give them away: ``forkedFrom``, a ``requestSessionId`` of another session, and a time before the fork began.
"""

from __future__ import annotations

from datetime import datetime

from dragoman.harnesses.claude.transcript import shapes
from dragoman.wire.loose import as_dict, as_str
from dragoman.wire.moments import as_time


class Copies:
    """What is known of the fork that a file may be."""

    def __init__(self) -> None:
        self.parent: str | None = None
        """The session that was forked, once a row names it."""
        self._began: datetime | None = None
        """When the file's own first row was written, if that stands before the copies."""
        self._is_over = False

    def note_beginning(self, row: shapes.AnyRow) -> None:
        if self._began is None:
            self._began = as_time(row.timestamp)

    def is_copy(self, row: shapes.AnyRow) -> bool:
        """Whether the row was copied. Copies stand before all of the file's own messages."""
        if self._is_over:
            return False
        parent = _parent_named(row)
        if parent is not None:
            self.parent = parent
            return True
        moment = as_time(row.timestamp)
        if self._began is not None and moment is not None and moment < self._began:
            return True
        self._is_over = True
        return False


def _parent_named(row: shapes.AnyRow) -> str | None:
    named = as_str(as_dict(row.forkedFrom).get("sessionId"))
    if named is None and isinstance(row, shapes.Assistant | shapes.System):
        named = as_str(row.requestSessionId)
    return named if named != row.sessionId else None
