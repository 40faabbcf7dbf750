"""What the parsers of all dialects share: counting lines, keeping odd ones, two outputs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.contract.reading import Duplicate, Ending
from dragoman.model.messages import Message
from dragoman.wire import jsonl
from dragoman.wire.lines import LongLine
from dragoman.wire.loose import as_dict, as_str


class StreamParser:
    """A parser that reads each line by itself. Subclasses implement ``_read``."""

    def __init__(
        self,
        *,
        only: frozenset[str] | None = None,
        audit: bool = False,
        out: Output | None = None,
    ) -> None:
        """``out`` is the output of a stream that this one is a part of."""
        self._out = out if out is not None else Output(audit=audit)

    def receive_line(self, line: bytes) -> None:
        self._out.line += 1
        try:
            if jsonl.is_too_deep(line):
                raise RecursionError
            self._read(line)
        except jsonl.UNREADABLE:
            self._keep(line)

    def receive_lines(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            self.receive_line(line)

    def receive_long_line(self, line: LongLine) -> None:
        self._out.line += 1
        self._malformed(line)

    def receive_eof(self, ending: Ending = "over") -> None:
        if ending == "growing":
            self._say_held()
        else:
            self._finish(ending)

    def messages(self) -> list[Message]:
        return self._out.take_messages()

    def duplicates(self) -> list[Duplicate]:
        return self._out.take_duplicates()

    def _read(self, line: bytes) -> None:
        """Report the content of a line. May raise msgspec's errors for a line that fits no shape."""
        raise NotImplementedError

    def _say_held(self) -> None:
        """Emit what was held back. What is open stays open."""

    def _finish(self, ending: Ending) -> None:
        """Emit what was held back, and close what is open."""
        raise NotImplementedError

    def _speaker(self) -> SessionAssembler | None:
        """The session that a line without a name of its own belongs to."""
        raise NotImplementedError

    def _keep(self, line: bytes) -> None:
        """Keep a line that fits no shape: as a duplicate if it is blank, else as a message."""
        if jsonl.is_blank(line):
            self._out.duplicate("blank line")
            return
        try:
            value = jsonl.loads(line)
        except jsonl.NotJson:
            self._malformed(line)
            return
        mended = jsonl.mend(line)
        if mended != line:
            self._out.line -= 1
            self.receive_line(mended)
        else:
            self._odd(line, value)

    def _odd(self, line: bytes, value: Any) -> None:
        """Keep a line that is JSON, but of no shape we know."""
        self._unknown(line, native_type(value))

    def _unknown(self, line: bytes, name: str) -> None:
        out, session = self._out, self._speaker()
        out.messages.append(
            jsonl.unknown(
                line,
                name,
                session_id=session.session_id if session else None,
                turn_id=session.turn_id if session else None,
                at=out.at,
                number=out.line,
            )
        )

    def _malformed(self, line: bytes | LongLine) -> None:
        out, session = self._out, self._speaker()
        out.messages.append(
            jsonl.malformed(
                line,
                session_id=session.session_id if session else None,
                turn_id=session.turn_id if session else None,
                number=out.line,
            )
        )


def native_type(value: Any) -> str:
    """The best name for a JSON value that we do not know: its type, method or kind of value."""
    given = as_dict(value)
    name = as_str(given.get("type")) or as_str(given.get("method"))
    return name or ("object" if given else type(value).__name__)
