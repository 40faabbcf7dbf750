"""Show streamed texts line by line: each line once, as soon as it is complete.

Deltas may lack the id of their text, and the complete text may have another one. Its content decides.
"""

from __future__ import annotations

from dataclasses import dataclass

from dragoman.model.messages import Delta, Text


@dataclass(slots=True)
class _Stream:
    text: str = ""
    shown: int = 0
    """How much was written, in whole lines."""

    def rest(self, whole: str) -> str | None:
        """What is still to be shown of the complete text; none if it is another text."""
        if whole.startswith(self.text):
            return whole[self.shown :]
        return self.text[self.shown :] if whole.strip() == self.text.strip() else None


class TextStreams:
    """The texts of a session that are still streaming."""

    def __init__(self) -> None:
        self._streams: dict[str | None, _Stream] = {}

    def add(self, delta: Delta) -> str:
        """The lines that this delta completes, each with its line end."""
        stream = self._streams.setdefault(delta.message_id, _Stream())
        stream.text += delta.text
        begin, end = stream.shown, stream.text.rfind("\n", stream.shown) + 1
        stream.shown = max(begin, end)
        return stream.text[begin:end]

    def complete(self, text: Text) -> tuple[str | None, str] | None:
        """The id under which a text was streamed and what is left to write; none if it was not."""
        for message_id in (text.message_id, *self._streams):
            stream = self._streams.get(message_id)
            rest = stream.rest(text.text) if stream else None
            if rest is not None:
                del self._streams[message_id]
                return message_id, rest
        self._streams.pop(text.message_id, None)
        return None

    def end(self) -> list[tuple[str | None, str]]:
        """The ids and the rests of all texts that will not be completed."""
        streams, self._streams = self._streams, {}
        return [(each, stream.text[stream.shown :]) for each, stream in streams.items()]
