"""How fast an answer goes, and with which headers: what is the same on every wire."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dragoman.rehearsal.actions import EVENTS, Action, Head, Wait
from dragoman.rehearsal.script import Headers, Slow
from dragoman.rehearsal.wires import Played


def paced(played: Played, actions: Iterable[Action | Slow]) -> Iterator[Action]:
    """A stream of events with its head, and a wait before each event that is to come slowly."""
    yield Head(200, EVENTS | extra_headers(played))
    gap = 0.0
    for action in actions:
        if isinstance(action, Slow):
            gap = action.seconds
            continue
        if gap and isinstance(action, bytes):
            yield Wait(gap)
        yield action


def extra_headers(played: Played) -> dict[str, str]:
    """The headers that the script gives to a response."""
    headers: dict[str, str] = {}
    for step, _ in played:
        if isinstance(step, Headers):
            headers |= step.headers
    return headers
