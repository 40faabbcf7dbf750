"""The last that a process wrote to its standard error: bounded, readable, without secrets.

Nothing is decoded before it is needed: a program that floods its standard error costs two copies of
the bytes and no more.
"""

from __future__ import annotations

import re
from collections import deque
from typing import Final

from dragoman.drive.secrets import Secrets

KEPT_BYTES: Final = 1 << 16
TAIL_CHARACTERS: Final = 2000

_CUT: Final = 512
"""Of a line whose beginning is lost this much is not shown: it may be the end of a secret."""

_ANSI: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles, links
    r"|[PX^_][^\x1b]*(?:\x1b\\)?"
    r"|[ -/]*[0-~])"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
)


class StderrTail:
    """Keeps the last bytes of a stream."""

    def __init__(self, secrets: Secrets | None = None, *, kept: int = KEPT_BYTES) -> None:
        self._secrets = secrets or Secrets()
        self._kept = kept
        self._chunks: deque[bytes] = deque()
        self._held = 0
        self.total = 0
        """How much was written in all."""

    def receive(self, chunk: bytes) -> None:
        self.total += len(chunk)
        chunk = chunk[-self._kept :]
        self._chunks.append(chunk)
        self._held += len(chunk)
        while self._held - len(self._chunks[0]) >= self._kept:
            self._held -= len(self._chunks.popleft())
        if len(self._chunks) > 256:  # from a program that writes a few bytes at a time
            self._chunks = deque([b"".join(self._chunks)])

    def text(self) -> str:
        """What is kept, in whole lines, to be shown to anybody."""
        data = b"".join(self._chunks)[-self._kept :]
        text = data.decode("utf-8", "replace")
        if self.total > len(data):
            _, newline, rest = text.partition("\n")
            text = rest if newline else text[max(_CUT, self._secrets.longest) :]
        text = _ANSI.sub("", text.replace("\r\n", "\n"))
        return self._secrets.mask(text).strip("\n")

    def tail(self, characters: int = TAIL_CHARACTERS) -> str:
        """The last lines, for an error message."""
        text = self.text()
        if len(text) <= characters:
            return text
        _, newline, rest = text[-characters:].partition("\n")
        return rest if newline and rest.strip() else text[-characters:]
