"""Telling a first telling from its repetitions on other channels."""

from __future__ import annotations


class Once:
    """What is heard for the n-th time on a channel is new only if no channel told it n times yet.

    So an agent may say "ok" twice and mean it, and two channels may tell both in any order.
    """

    __slots__ = ("_heard", "_ids", "_said", "echoes")

    def __init__(self) -> None:
        self.echoes = False
        """Whether a channel may repeat itself, so that only what was never said is new."""
        self._said: dict[str, int] = {}
        self._heard: dict[tuple[str, str], int] = {}
        self._ids: set[str] = set()

    def is_new(self, channel: str, what: str) -> bool:
        key = (channel, what)
        count = self._heard.get(key, 0) + 1
        self._heard[key] = count
        said = self._said.get(what, 0)
        if count > said and not (said and self.echoes):
            self._said[what] = count
            return True
        return False

    def knows(self, channel: str, what: str, what_id: str | None) -> bool:
        """Whether this would be a repetition, without counting it."""
        if what_id is not None and what_id in self._ids:
            return True
        return self._heard.get((channel, what), 0) < self._said.get(what, 0)

    def was_said(self, what: str) -> bool:
        return what in self._said

    def was_said_in_parts(self, what: str) -> bool:
        """Whether it is nothing but things that were said, one after the other."""
        return what in self._said or what in "\n".join(self._said)

    def has_id(self, what_id: str) -> bool:
        return what_id in self._ids

    def is_new_id(self, what_id: str) -> bool:
        if what_id in self._ids:
            return False
        self._ids.add(what_id)
        return True

    def clear(self) -> None:
        """Forget everything: a new turn may say it all again."""
        self.echoes = False
        if self._said or self._ids:
            self._said.clear()
            self._heard.clear()
            self._ids.clear()


class Streams:
    """Things still being said, piece by piece, over channels that repeat one another."""

    __slots__ = ("_told", "_upto")

    def __init__(self) -> None:
        self._told: dict[str, int] = {}
        self._upto: dict[tuple[str, str], int] = {}

    def fresh(self, channel: str, key: str, text: str) -> str:
        """The end of ``text`` that no channel has told yet of the thing called ``key``."""
        place = (channel, key)
        end = self._upto.get(place, 0) + len(text)
        self._upto[place] = end
        news = end - self._told.get(key, 0)
        if news <= 0:
            return ""
        self._told[key] = end
        return text[-news:]

    def forget(self, key: str) -> None:
        """The thing has been said whole; the next of that name starts anew."""
        if self._told.pop(key, None) is not None:
            for channel, other in [pair for pair in self._upto if pair[1] == key]:
                del self._upto[channel, other]

    def clear(self) -> None:
        if self._told:
            self._told.clear()
            self._upto.clear()
