"""Read a range of a saved session by message numbers, using memory only for that range."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import dropwhile, islice

from dragoman.archive.saved import SavedSession
from dragoman.model.messages import Message

Numbered = tuple[int, Message]


def message_range(
    session: SavedSession, *, after: int = 0, before: int | None = None, limit: int
) -> list[Numbered]:
    """Return the messages after number ``after``, or the last ones before ``before``, at most ``limit``."""
    if before is None:
        following = dropwhile(lambda each: each[0] <= after, session.numbered(after + 1))
        return list(islice(following, limit))
    found = _last(session.numbered(max(1, before - limit)), before, limit)
    if found and len(found) < limit and found[0][0] > 1:
        # The session has fewer messages than assumed, so start further back.
        found = _last(session.numbered(max(1, found[-1][0] + 1 - limit)), before, limit)
    return found


def _last(numbered: Iterator[Numbered], before: int, limit: int) -> list[Numbered]:
    last: deque[Numbered] = deque(maxlen=limit)
    for each in numbered:
        if each[0] >= before:
            break
        last.append(each)
    return list(last)
