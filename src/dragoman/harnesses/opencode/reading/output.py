"""Reading what ``opencode run --format json`` prints: one line for each part that is complete.

The prompt is not in it, and neither is a line for the end: the turn ends with the process.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

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

    def _read_own(self, line: bytes, *, sent: bool | None) -> None:
        if sent:
            self._speaker().duplicate("journal: the input")
            return
        row = _decode(line)
        self.set_time(row.timestamp)
        session = self.session(row.sessionID)
        if session.assembler.facts is None:
            session.assembler.begin_session()
        if row.type == "error":
            session.ensure_turn()
            session.fail(row.error)
        elif row.type in _PARTS or "type" in as_dict(row.part):
            session.ensure_turn()
            if not self.report_part(session, as_dict(row.part)):
                self._unknown(line, as_str(as_dict(row.part).get("type")) or row.type)
        else:
            self._unknown(line, row.type)
