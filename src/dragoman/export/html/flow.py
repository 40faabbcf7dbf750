"""Pieces of a page in the order in which they began, given out as soon as nothing before them waits.

The card of a tool call waits for its result, a group for whatever a sub-agent still says; what comes
after them waits behind them. What waits is bounded: when it is too much, the oldest is given up and
written as it stands, so that a page of any length is made in little memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from dragoman.html.pieces import EMPTY, Html

MOST: Final = 4_000_000
"""How many characters may wait."""
_SLOT: Final = 500
"""What a piece counts at least."""


class Slot:
    """The place of a piece that may still be waited for."""

    __slots__ = ("is_gone", "is_open", "make")

    def __init__(self, make: Callable[[], Html], *, is_open: bool) -> None:
        self.make = make
        self.is_open = is_open
        self.is_gone = False


class Group:
    """Pieces inside an element of their own, which is open until it is ended."""

    __slots__ = ("closing", "is_begun", "is_gone", "is_open", "opening", "slots")

    def __init__(self, opening: Html, closing: Html) -> None:
        self.opening = opening
        self.closing = closing
        self.slots: deque[Slot | Group] = deque()
        self.is_open = True
        self.is_begun = False
        self.is_gone = False


class Flow:
    def __init__(self, most: int = MOST) -> None:
        self.root = Group(EMPTY, EMPTY)
        self._most = most
        self._waiting = 0

    def add(self, group: Group, html: Html) -> None:
        """A piece that is whole."""
        if html:
            self._waiting += len(html) + _SLOT
            group.slots.append(Slot(lambda: html, is_open=False))

    def hold(self, group: Group, given_up: Callable[[], Html]) -> Slot:
        """A piece to be made later; ``given_up`` makes it if that takes too long."""
        slot = Slot(given_up, is_open=True)
        self._waiting += _SLOT
        group.slots.append(slot)
        return slot

    def settle(self, slot: Slot, html: Html) -> bool:
        """Put the piece into its place, if that has not been given up."""
        if slot.is_gone or not slot.is_open:
            return False
        self._waiting += len(html)
        slot.make, slot.is_open = (lambda: html), False
        return True

    def release(self, slot: Slot) -> None:
        """Nobody waits for this piece any more."""
        slot.is_open = False

    def begin(self, group: Group, opening: Html, closing: Html) -> Group:
        inner = Group(opening, closing)
        self._waiting += _SLOT
        group.slots.append(inner)
        return inner

    def end(self, group: Group) -> None:
        """Nothing more will come into this group, nor is anything in it waited for."""
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
                if not head.is_begun:
                    head.is_begun = True
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
