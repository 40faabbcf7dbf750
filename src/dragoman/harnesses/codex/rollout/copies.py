"""Separates a session's own rows from those copied from the session that it was made from.

A fork (0.87 to 0.149), and a sub-agent that knows its parent's history, begin with the header of the
other session and a copy of its rows. They are emitted under the other session's name, so that they
are not counted twice. A turn belongs to the youngest session that is older than the turn: both have ids
that begin with the time they were made. Releases to 0.99 do not name turns; there the copy was
written at one go, and the first pause ends it.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from dragoman.harnesses.codex.events import conversation_shapes as shapes

_PAUSE: Final = timedelta(milliseconds=5)


class CopiedRows:
    """The sessions whose rows one file holds."""

    def __init__(self, own: str) -> None:
        self._own = own
        self._ids = [own]
        self._names_turns = False
        self._before: datetime | None = None

    def add(self, session_id: str) -> None:
        """A further header: the rows that follow were copied from this session, or through it."""
        self._ids.append(session_id)

    def owner(self, row: Any) -> str | None:
        """The session that this row, and what follows, belongs to; None if it is as before."""
        now: datetime | None = getattr(row, "timestamp", None)
        before, self._before = self._before, now
        event = getattr(row, "payload", None)
        if isinstance(event, shapes.TaskStarted) and event.turn_id is not None:
            self._names_turns = True
            turn = event.turn_id
            older = [one for one in self._ids if _is_timed(one) and one < turn]
            return max(older, default=self._own) if _is_timed(turn) else self._own
        if self._names_turns or before is None or now is None:
            return None
        return self._own if now - before >= _PAUSE else None


def _is_timed(name: str) -> bool:
    """Whether this is a UUID of version 7, which sorts by time."""
    return len(name) == 36 and name[14] == "7"
