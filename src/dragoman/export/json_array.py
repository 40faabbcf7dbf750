"""Messages as one JSON array, for programs that read a file rather than a stream.

==============  =================================================
message         element
==============  =================================================
every message   itself, as :mod:`dragoman.model.messages` has it
==============  =================================================

Each element is on a line of its own, so that you can view and split the array like JSON lines.
"""

from __future__ import annotations

from collections.abc import Iterable

from dragoman.export.base import Options
from dragoman.model.messages import Message, encode


class JsonExporter:
    wants_lines: bool = False

    def __init__(self, options: Options) -> None:
        del options
        self._newest: bytes | None = None
        """An element without the comma or bracket after it."""

    def export(self, messages: Iterable[Message]) -> bytes:
        parts: list[bytes] = []
        for message in messages:
            parts.append(b"[\n" if self._newest is None else self._newest + b",\n")
            self._newest = encode(message)
        return b"".join(parts)

    def finish(self) -> bytes:
        return b"[]\n" if self._newest is None else self._newest + b"\n]\n"
