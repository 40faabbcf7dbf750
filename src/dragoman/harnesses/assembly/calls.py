"""Which tool calls are open: every call gets exactly one end, whatever the wire forgets."""

from __future__ import annotations

from typing import Final

_OPEN: Final = 0
_CLOSED: Final = 1
_ABANDONED: Final = 2


class Calls:
    """The calls of one session. Remembers those of the turn before, for lines that come late."""

    __slots__ = ("_earlier", "_now")

    def __init__(self) -> None:
        self._now: dict[str, int] = {}
        self._earlier: dict[str, int] = {}

    def opens(self, call_id: str) -> bool:
        """Whether this is the first word of the call."""
        if call_id in self._now or call_id in self._earlier:
            return False
        self._now[call_id] = _OPEN
        return True

    def closes(self, call_id: str) -> bool:
        """Whether this is the first end of the call, or the first after it was given up."""
        book = self._earlier if call_id in self._earlier else self._now
        if book.get(call_id) == _CLOSED:
            return False
        book[call_id] = _CLOSED
        return True

    def abandons(self, call_id: str) -> bool:
        """Whether the call is given up now: it had no end yet. A real end may still come."""
        book = self._earlier if call_id in self._earlier else self._now
        if book.get(call_id, _OPEN) != _OPEN:
            return False
        book[call_id] = _ABANDONED
        return True

    def is_known(self, call_id: str) -> bool:
        return call_id in self._now or call_id in self._earlier

    def is_open(self, call_id: str) -> bool:
        return self._now.get(call_id) == _OPEN

    def is_closed(self, call_id: str) -> bool:
        return self._now.get(call_id, self._earlier.get(call_id)) == _CLOSED

    def is_over(self, call_id: str) -> bool:
        """Whether it has an end, be it only that it was given up."""
        return self._now.get(call_id, self._earlier.get(call_id, _OPEN)) != _OPEN

    def earlier(self) -> dict[str, int]:
        """What is remembered of the turn before."""
        return dict(self._earlier)

    def know(self, earlier: dict[str, int]) -> None:
        """Remember this of the turn before."""
        self._earlier = earlier

    def any_open(self) -> bool:
        return _OPEN in self._now.values()

    def give_up(self) -> list[str]:
        """End the turn: the calls that nobody closed, in the order they were made."""
        left = [call_id for call_id, state in self._now.items() if state == _OPEN]
        abandoned = dict.fromkeys(left, _ABANDONED)
        kept = {call_id: state for call_id, state in self._earlier.items() if state == _ABANDONED}
        self._earlier = kept | self._now | abandoned
        self._now = {}
        return left
