"""Content that arrives in pieces, over channels that repeat one another."""

from __future__ import annotations

from dragoman.model.messages import DeltaOf


class DeltaStreams:
    """How far each stream of pieces has been emitted, and which message each belongs to.

    Channels cut the same text at different places, so pieces are compared by position: of each piece
    only the part beyond what any channel has delivered is new.
    """

    __slots__ = ("_emitted", "_named", "_positions")

    def __init__(self) -> None:
        self._emitted: dict[str, int] = {}
        """How many characters of each stream were emitted."""
        self._positions: dict[tuple[str, str], int] = {}
        """How many characters of each stream each channel has delivered."""
        self._named: dict[DeltaOf, str] = {}
        """The message that pieces of each kind belong to if they do not name one."""

    def message_of(self, of: DeltaOf, message_id: str | None) -> str | None:
        """The message that a piece belongs to: the one it names, or the one named last."""
        if message_id is None:
            return self._named.get(of)
        self._named[of] = message_id
        return message_id

    def fresh(self, channel: str, key: str, text: str) -> str:
        """The end of ``text`` that no channel has delivered yet for the stream ``key``."""
        place = (channel, key)
        end = self._positions.get(place, 0) + len(text)
        self._positions[place] = end
        news = end - self._emitted.get(key, 0)
        if news <= 0:
            return ""
        self._emitted[key] = end
        return text[-news:]

    def complete(self, of: DeltaOf, message_id: str | None) -> None:
        """The message that pieces of this kind belong to was emitted whole.

        What follows under the same key is another message: without this, a channel without ids would
        lose the first piece of the next text, as long as the text before.
        """
        if self._named:
            self.forget(self._named.pop(of, message_id or of))

    def forget(self, key: str) -> None:
        """Start the stream from its beginning."""
        if self._emitted.pop(key, None) is not None:
            for channel, other in [pair for pair in self._positions if pair[1] == key]:
                del self._positions[channel, other]

    def clear(self) -> None:
        self._named.clear()
        if self._emitted:
            self._emitted.clear()
            self._positions.clear()


class Snapshots:
    """Texts and thoughts that arrive whole each time they grow, and whose last state may never arrive."""

    __slots__ = ("_latest",)

    def __init__(self) -> None:
        self._latest: dict[str, tuple[DeltaOf, str]] = {}

    def update(self, message_id: str, of: DeltaOf, text: str) -> str:
        """Replace the state of a message; its state before, empty for a new one."""
        before = self._latest.get(message_id, (of, ""))[1]
        self._latest[message_id] = (of, text)
        return before

    def complete(self, message_id: str | None) -> None:
        """The message has arrived in its final form."""
        if self._latest and message_id is not None:
            self._latest.pop(message_id, None)

    def take(self) -> dict[str, tuple[DeltaOf, str]]:
        """The messages that never were completed, by id, in order."""
        latest, self._latest = self._latest, {}
        return latest
