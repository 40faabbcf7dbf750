"""Reading what ``copilot -p --output-format json`` prints: events, and at the end one ``result``.

The session's id is on the last line only, unless the arguments that a recording begins with have it.
"""

from __future__ import annotations

from dragoman.harnesses.copilot.events.shapes import Result, decode_result
from dragoman.harnesses.copilot.reading import CopilotEventsParser
from dragoman.model.messages import TurnError
from dragoman.wire import jsonl
from dragoman.wire.jsonl import UNREADABLE
from dragoman.wire.loose import as_dict, as_int, as_list, as_str
from dragoman.wire.moments import as_time

_ID_FLAGS = ("--session-id", "--resume")


class CopilotOutputParser(CopilotEventsParser):
    """One process that was given one prompt."""

    def name_session(self, session_id: str) -> None:
        """The session's id is known before the output says it."""
        self.reader.main.assembler.session_id = session_id

    def _read_own(self, line: bytes) -> None:
        result = _result(line)
        if result is None:
            super()._read_own(line)
            return
        if (at := as_time(result.timestamp)) is not None:
            self._out.at = at
        self._end(result)

    def _end(self, result: Result) -> None:
        session = self.reader.main
        code = as_int(result.exitCode)
        if session.assembler.in_turn and code not in (None, 0) and not session.has_failed:
            session.fail(TurnError("turn_failed", f"copilot ended with code {code}", True))
        for each in self.reader.all():
            each.close_turn()
        session_id = as_str(result.sessionId)
        if session_id is None or session_id == session.session_id:
            session.assembler.duplicate("result: what it says was emitted before")
            return
        facts = session.assembler.facts
        session.assembler.session_id = session_id
        session.assembler.forget_facts()
        session.assembler.begin_session(model=facts.model if facts else None)

    def _read_aside(self, line: bytes) -> None:
        try:
            meta = as_dict(jsonl.loads(line))
        except jsonl.NotJson:
            return
        words = [
            str(word) for word in as_list(meta.get("cmd") or as_dict(meta.get("msg")).get("cmd"))
        ]
        for index, word in enumerate(words):
            flag, _, value = word.partition("=")
            if flag in _ID_FLAGS:
                value = value or (words[index + 1] if index + 1 < len(words) else "")
                if len(value) == 36:
                    self.name_session(value)


def _result(line: bytes) -> Result | None:
    """The last line; None for an event. Events have their type first."""
    if b'"result"' not in line[:200]:
        return None
    try:
        result = decode_result(line)
    except UNREADABLE:
        return None
    return result if result.type == "result" else None
