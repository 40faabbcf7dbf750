"""Reading what ``opencode run --format json`` prints: one line for each part that is complete.

The prompt is not in it, and neither is a line for the end: the turn ends with the process. A call that ends before the
text in front of it is complete is printed before that text. The names of parts say their order.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from dragoman.harnesses.contract.reading import Ending
from dragoman.harnesses.opencode.reading.sessions import OpencodeParser
from dragoman.wire.loose import as_dict, as_str

_PARTS: Final = frozenset(("text", "reasoning", "tool_use", "step_start", "step_finish"))


class _OutputLine(msgspec.Struct, gc=False):
    type: str
    sessionID: str
    timestamp: Any = None
    part: Any = None
    error: Any = None


_decode: Final = msgspec.json.Decoder(_OutputLine).decode


class OpencodeOutputParser(OpencodeParser):
    """One process that was given one prompt."""

    def __init__(self, *, only: frozenset[str] | None = None, audit: bool = False) -> None:
        super().__init__(only=only, audit=audit)
        self._calls: list[dict[str, Any]] = []
        """The calls of a response that is not complete, by their names."""

    def _read_own(self, line: bytes, *, sent: bool | None) -> None:
        if sent:
            self._speaker().duplicate("journal: the input")
            return
        row = _decode(line)
        self.set_time(row.timestamp)
        session = self.session(row.sessionID)
        if session.assembler.facts is None:
            session.assembler.begin_session()
        part = as_dict(row.part)
        if row.type == "error":
            session.ensure_turn()
            self._release(None)
            session.fail(row.error)
        elif row.type == "tool_use" and part.get("type") == "tool":
            session.ensure_turn()
            self._calls.append(part)
            self._calls.sort(key=_name)
            session.assembler.duplicate("state: a call of a response that is not complete")
        elif row.type in _PARTS or "type" in part:
            session.ensure_turn()
            self._release(_name(part) if row.type in ("text", "reasoning") else None)
            if not self.report_part(session, part):
                self._unknown(line, as_str(part.get("type")) or row.type)
        else:
            self._unknown(line, row.type)

    def _release(self, before: str | None) -> None:
        """Report the calls in front of this part, or all of them."""
        while self._calls and (before is None or _name(self._calls[0]) < before):
            part = self._calls.pop(0)
            self.report_part(self.session(as_str(part.get("sessionID"))), part)

    def _finish(self, ending: Ending) -> None:
        self._release(None)
        super()._finish(ending)


def _name(part: dict[str, Any]) -> str:
    return as_str(part.get("id")) or ""
