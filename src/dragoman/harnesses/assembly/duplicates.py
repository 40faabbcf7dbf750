"""Distinguishes new content from content that another channel has reported."""

from __future__ import annotations


class Deduplicator:
    """Decides whether a report is new: the n-th on its channel is, unless another channel already made n.

    Comparing contents alone would drop the second "ok" of an agent that says "ok" twice. Comparing
    positions alone would fail where one channel leaves things out. Counting per channel handles both,
    whatever the order in which channels report.
    """

    __slots__ = ("_emitted", "_ids", "_reports", "echoes")

    def __init__(self) -> None:
        self.echoes = False
        """Whether a channel may repeat itself, so that only content never seen before is new."""
        self._emitted: dict[str, int] = {}
        """How many times each content was emitted."""
        self._reports: dict[tuple[str, str], int] = {}
        """How many times each channel has reported each content."""
        self._ids: set[str] = set()

    def is_new(self, channel: str, content: str) -> bool:
        """Count a report; whether it has to be emitted."""
        key = (channel, content)
        count = self._reports.get(key, 0) + 1
        self._reports[key] = count
        emitted = self._emitted.get(content, 0)
        if count > emitted and not (emitted and self.echoes):
            self._emitted[content] = count
            return True
        return False

    def knows(self, channel: str, content: str, item_id: str | None) -> bool:
        """Whether this would be a repetition, without counting it."""
        if item_id is not None and item_id in self._ids:
            return True
        return self._reports.get((channel, content), 0) < self._emitted.get(content, 0)

    def repeats(self, channel: str, content: str, item_id: str | None) -> bool:
        """Count a report that may have an id; whether it repeats another.

        An id that returns with other content is new: some dialects put several texts under one id.
        """
        if item_id is not None and not self.is_new_id(item_id) and content in self._emitted:
            return True
        return not self.is_new(channel, content)

    def was_emitted_in_parts(self, content: str) -> bool:
        """Whether it consists of emitted contents, one per line."""
        return content in self._emitted or content in "\n".join(self._emitted)

    def has_id(self, item_id: str) -> bool:
        return item_id in self._ids

    def is_new_id(self, item_id: str) -> bool:
        if item_id in self._ids:
            return False
        self._ids.add(item_id)
        return True

    def clear(self) -> None:
        """Forget everything: a new turn may repeat the content of an earlier one."""
        self.echoes = False
        if self._emitted or self._ids:
            self._emitted.clear()
            self._reports.clear()
            self._ids.clear()
