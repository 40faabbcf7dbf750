"""Write the pieces of a page in order, as soon as no earlier piece is incomplete.

The card of a tool call waits for its result, and a group waits for its sub-agent; later pieces wait behind them.
The waiting pieces are bounded: above the limit, the oldest is written unfinished, so that a page of any length
needs little memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from dragoman.html.pieces import EMPTY, Html

MOST: Final = 4_000_000
"""How many characters may wait."""
_SLOT: Final = 500
"""The least that a piece counts."""


class Slot:
    """The place of a piece that may still be incomplete."""

    __slots__ = ("is_gone", "is_open", "make")

    def __init__(self, make: Callable[[], Html], *, is_open: bool) -> None:
        self.make = make
        self.is_open = is_open
        self.is_gone = False


class Group:
    """Pieces inside an element of their own, open until it is ended."""

    __slots__ = ("closing", "is_gone", "is_open", "is_started", "opening", "slots")

    def __init__(self, opening: Html, closing: Html) -> None:
        self.opening = opening
        self.closing = closing
        self.slots: deque[Slot | Group] = deque()
        self.is_open = True
        self.is_started = False
        self.is_gone = False


class Flow:
    def __init__(self, most: int = MOST) -> None:
        self.root = Group(EMPTY, EMPTY)
        self._most = most
        self._waiting = 0

    def add(self, group: Group, html: Html) -> None:
        """Add a complete piece."""
        if html:
            self._waiting += len(html) + _SLOT
            group.slots.append(Slot(lambda: html, is_open=False))

    def hold(self, group: Group, given_up: Callable[[], Html]) -> Slot:
        """Add a piece to complete later; ``given_up`` creates it if that takes too long."""
        slot = Slot(given_up, is_open=True)
        self._waiting += _SLOT
        group.slots.append(slot)
        return slot

    def settle(self, slot: Slot, html: Html) -> bool:
        """Put the piece into its place, unless that was given up."""
        if slot.is_gone or not slot.is_open:
            return False
        self._waiting += len(html)
        slot.make, slot.is_open = (lambda: html), False
        return True

    def release(self, slot: Slot) -> None:
        """Stop waiting for this piece."""
        slot.is_open = False

    def begin(self, group: Group, opening: Html, closing: Html) -> Group:
        inner = Group(opening, closing)
        self._waiting += _SLOT
        group.slots.append(inner)
        return inner

    def end(self, group: Group) -> None:
        """Close the group and stop waiting for its pieces."""
        group.is_open = False
        for each in group.slots:
            if isinstance(each, Group):
                self.end(each)
            else:
                each.is_open = False

    @property
    def is_full(self) -> bool:
        return self._waiting > self._most

    def drain(self) -> str:
        """All that can be written."""
        parts: list[str] = []
        self._drain(self.root, parts)
        while self.is_full and self.root.slots:
            self._give_up(self.root)
            self._drain(self.root, parts)
        if not self.root.slots:
            self._waiting = 0
        return "".join(parts)

    def _drain(self, group: Group, parts: list[str]) -> None:
        while group.slots:
            head = group.slots[0]
            if isinstance(head, Slot):
                if head.is_open:
                    return
                html = head.make()
                self._waiting -= len(html) + _SLOT
                parts.append(html)
            else:
                if not head.is_started:
                    head.is_started = True
                    parts.append(head.opening)
                self._drain(head, parts)
                if head.slots or head.is_open:
                    return
                self._waiting -= _SLOT
                parts.append(head.closing)
            head.is_gone = True
            group.slots.popleft()

    def _give_up(self, group: Group) -> None:
        head = group.slots[0]
        if isinstance(head, Group):
            if head.slots:
                self._give_up(head)
            else:
                head.is_open = False
        else:
            head.is_open = False
