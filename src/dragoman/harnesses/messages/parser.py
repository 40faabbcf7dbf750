"""Reading messages back: each line is a message, and comes out equal to the one that was written.

===============================  ==========================================================
line                             becomes
===============================  ==========================================================
a message                        itself, with the ``line`` it had: that of the first source
``[``, ``]``, a comma at the end nothing: the brackets of ``--to json``
other JSON                       ``unknown``: also a message of a newer release
no JSON                          ``malformed``
===============================  ==========================================================

Nothing is added: a turn that was open when it was written is open when it is read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import msgspec

from dragoman.harnesses.contract.reading import Duplicate, Ending
from dragoman.harnesses.messages.sniff import bare_line
from dragoman.model.messages import Message, decode
from dragoman.wire import jsonl
from dragoman.wire.lines import LongLine


class MessagesParser:
    """One stream of messages."""

    def __init__(self, *, only: frozenset[str] | None = None, audit: bool = False) -> None:
        del only
        self._audit = audit
        self._line = 0
        self._messages: list[Message] = []
        self._duplicates: list[Duplicate] = []

    def receive_line(self, line: bytes) -> None:
        self._line += 1
        bare = bare_line(line)
        if not bare or bare in (b"[", b"]", b"[]"):
            self._duplicate("bracket of a list" if bare else "blank line")
            return
        try:
            message = decode(bare)
        except jsonl.UNREADABLE:
            message = self._odd(line)
        if self._audit:
            # An account is about the lines of this file, not of the one before it.
            message = msgspec.structs.replace(message, line=self._line)
        self._messages.append(message)

    def receive_lines(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            self.receive_line(line)

    def receive_long_line(self, line: LongLine) -> None:
        self._line += 1
        self._messages.append(jsonl.malformed(line, number=self._line))

    def receive_eof(self, ending: Ending = "over") -> None:
        """Nothing was held back, and what is open stays open."""

    def messages(self) -> list[Message]:
        taken, self._messages = self._messages, []
        return taken

    def duplicates(self) -> list[Duplicate]:
        taken, self._duplicates = self._duplicates, []
        return taken

    def _duplicate(self, reason: str) -> None:
        if self._audit:
            self._duplicates.append(Duplicate(self._line, reason))

    def _odd(self, line: bytes) -> Message:
        try:
            value: Any = jsonl.loads(line)
        except jsonl.NotJson:
            return jsonl.malformed(line, number=self._line)
        given = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
        name = given.get("type")
        native = name if isinstance(name, str) else type(cast("object", value)).__name__
        return jsonl.unknown(line, native, number=self._line)
