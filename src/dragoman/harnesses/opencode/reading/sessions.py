"""What the parsers share: the sessions of a stream, and their facts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.parsing import StreamParser
from dragoman.harnesses.contract.reading import Ending
from dragoman.harnesses.opencode.session import OpencodeSession
from dragoman.wire import jsonl
from dragoman.wire.directions import ASIDE, ERRORS, unwrap
from dragoman.wire.envelope import time_on
from dragoman.wire.loose import as_dict, as_number, as_str


class OpencodeParser(StreamParser):
    """A stream about one or several sessions."""

    def __init__(self, *, only: frozenset[str] | None = None, audit: bool = False) -> None:
        super().__init__(only=only, audit=audit)
        self._unnamed = OpencodeSession(self._out, None)
        self.sessions: dict[str, OpencodeSession] = {}

    def session(self, session_id: str | None) -> OpencodeSession:
        """The session of this id, which may be new."""
        if session_id is None:
            return next(iter(self.sessions.values()), self._unnamed)
        found = self.sessions.get(session_id)
        if found is None:
            found = self.sessions[session_id] = OpencodeSession(self._out, session_id)
        return found

    def session_info(self, info: dict[str, Any]) -> None:
        """What a session says about itself."""
        session = self.session(as_str(info.get("id")))
        model = as_dict(info.get("model"))
        facts = session.assembler.facts
        known = as_str(model.get("id")) or as_str(model.get("modelID"))
        if facts is not None and facts.model is not None:
            known = None  # each message says which model it is by
        session.assembler.begin_session(
            version=as_str(info.get("version")),
            model=known,
            cwd=as_str(info.get("directory")),
            parent_session_id=as_str(info.get("parentID")),
        )

    def report_part(self, session: OpencodeSession, part: dict[str, Any]) -> bool:
        """A part of a message. The call of a task names the session that it started."""
        known = session.part(part)
        if part.get("type") == "tool" and part.get("tool") == "task":
            metadata = as_dict(as_dict(part.get("state")).get("metadata"))
            child, call_id = as_str(metadata.get("sessionId")), as_str(part.get("callID"))
            if child is not None and child in self.sessions:
                self.sessions[child].assembler.begin_session(parent_call_id=call_id)
        return known

    def receive_time(self, at: datetime) -> None:
        """The lines to come arrive at this time."""
        self._out.at = at

    def set_time(self, milliseconds: Any) -> None:
        """The line happened then."""
        number = as_number(milliseconds)
        if number is not None and 0 < number < 1e14:
            self._out.at = datetime.fromtimestamp(number / 1000, UTC)

    def _read(self, line: bytes) -> None:
        inner, sent, way = unwrap(line)
        if not way:
            self._read_own(line, sent=None)
            return
        if (at := time_on(line)) is not None:
            self._out.at = at
        if way in ASIDE:
            self._speaker().duplicate("journal: how it was recorded")
        elif way in ERRORS:
            self._speaker().notice("stderr", "warning", inner.decode(errors="replace").strip())
        else:
            try:
                self._read_own(inner, sent=sent)
            except jsonl.UNREADABLE:
                self._keep_inner(inner)

    def _keep_inner(self, line: bytes) -> None:
        try:
            value = jsonl.loads(line)
        except jsonl.NotJson:
            self._malformed(line)
        else:
            self._odd(line, value)

    def _read_own(self, line: bytes, *, sent: bool | None) -> None:
        """A line of the dialect itself."""
        raise NotImplementedError

    def _finish(self, ending: Ending) -> None:
        for session in self.all():
            session.close_turn(may_go_on=ending == "left")

    def all(self) -> list[OpencodeSession]:
        """Every session, the newest first: sub-agents end before the one that started them."""
        return [*reversed(self.sessions.values()), self._unnamed]

    def _speaker(self) -> SessionAssembler:
        return self.session(None).assembler
