"""Reading an exchange with ``opencode serve``: requests, responses and events, each as a line.

| line | what it is |
|---|---|
| ``{"method", "path", "body"}`` | a request of ours |
| ``{"status", "body"}`` | its response |
| ``{"id": "evt_…", "type", "properties"}`` | an event of the server |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

import msgspec

from dragoman.harnesses.opencode.approvals import asked_of, decision_of, questions_of
from dragoman.harnesses.opencode.reading.sessions import OpencodeParser
from dragoman.harnesses.opencode.tools import plan_in
from dragoman.wire.loose import as_dict, as_int, as_number, as_str

_STATES: Final = (
    "server.",
    "plugin.",
    "catalog.",
    "reference.",
    "integration.",
    "installation.",
    "lsp.",
    "file.",
    "project.",
    "mcp.",
    "ide.",
    "tui.",
    "pty.",
    "vcs.",
    "worktree.",
    "workspace.",
    "command.",
    "global.",
    "session.diff",
    "session.deleted",
    "message.removed",
    "message.part.removed",
)
"""Beginnings of events that say how the program is doing, and add nothing to the conversation."""


class _ServerLine(msgspec.Struct, gc=False):
    type: str | None = None
    properties: dict[str, Any] | None = None
    method: str | None = None
    path: str | None = None
    status: Any = None
    body: Any = None


_decode: Final = msgspec.json.Decoder(_ServerLine).decode


class OpencodeServerParser(OpencodeParser):
    """One server with its sessions."""

    def receive_sent(self, lines: Iterable[bytes]) -> None:
        """Take lines that we send."""
        for line in lines:
            self._out.line += 1
            self._read_own(line, sent=True)

    def _read_own(self, line: bytes, *, sent: bool | None) -> None:
        row = _decode(line)
        if row.type is not None and row.properties is not None:
            if not self._event(row.type, row.properties):
                self._unknown(line, row.type)
        elif row.method is not None and row.path is not None:
            self._speaker().duplicate(f"request: {row.method} {row.path.split('?')[0]}")
        elif row.status is not None:
            self._response(row)
        else:
            raise msgspec.ValidationError("no event, request or response")

    def _response(self, row: _ServerLine) -> None:
        body = as_dict(row.body)
        status = as_int(row.status) or 0
        error = as_dict(body.get("data")).get("message") or body.get("message")
        if status >= 400 and isinstance(error, str):
            self._speaker().notice("answer", "error", f"HTTP {status}: {error}")
        else:
            self._speaker().duplicate("answer: its events carry it")

    def _event(self, kind: str, given: dict[str, Any]) -> bool:
        report = _REPORT.get(kind)
        if report is not None:
            return report(self, given) is not False
        if kind.startswith(_STATES):
            self.session(as_str(given.get("sessionID"))).assembler.duplicate(f"state: {kind}")
            return True
        return False

    def _session_updated(self, given: dict[str, Any]) -> None:
        self.session_info(as_dict(given.get("info")))

    def _message_updated(self, given: dict[str, Any]) -> None:
        info = as_dict(given.get("info"))
        times = as_dict(info.get("time"))
        self.set_time(times.get("completed") or times.get("created"))
        self.session(as_str(info.get("sessionID")) or as_str(given.get("sessionID"))).message(info)

    def _part_updated(self, given: dict[str, Any]) -> bool:
        part = as_dict(given.get("part"))
        self.set_time(given.get("time"))
        session = self.session(as_str(part.get("sessionID")) or as_str(given.get("sessionID")))
        return self.report_part(session, part)

    def _part_delta(self, given: dict[str, Any]) -> None:
        session = self.session(as_str(given.get("sessionID")))
        session.delta(
            as_str(given.get("partID")) or "",
            as_str(given.get("messageID")) or "",
            as_str(given.get("field")) or "",
            as_str(given.get("delta")) or "",
        )

    def _status(self, given: dict[str, Any]) -> None:
        session = self.session(as_str(given.get("sessionID")))
        status = as_dict(given.get("status"))
        if status.get("type") == "retry":
            reason = as_str(status.get("message")) or "the request failed"
            wait = as_number(status.get("next"))
            at = self._out.at.timestamp() * 1000 if self._out.at is not None else None
            after = f" in {(wait - at) / 1000:.0f} s" if wait and at and wait > at else ""
            number = as_int(status.get("attempt")) or 1
            text = f"{reason}: attempt {number} failed, the next follows{after}"
            session.assembler.notice("status", "warning", text, will_retry=True)
        else:
            session.assembler.duplicate("state: session.status")

    def _idle(self, given: dict[str, Any]) -> None:
        self.session(as_str(given.get("sessionID"))).idle()

    def _error(self, given: dict[str, Any]) -> None:
        self.session(as_str(given.get("sessionID"))).fail(given.get("error"))

    def _compacted(self, given: dict[str, Any]) -> None:
        self.session(as_str(given.get("sessionID"))).assembler.compacted("part")

    def _todo(self, given: dict[str, Any]) -> None:
        session = self.session(as_str(given.get("sessionID")))
        session.assembler.plan(plan_in(given.get("todos")))

    def _permission_asked(self, given: dict[str, Any]) -> None:
        session = self.session(as_str(given.get("sessionID")))
        session.flush_prompt()
        asked = asked_of(given, session.assembler)
        session.assembler.ask(asked.approval_id, asked.kind, **asked.fields)

    def _permission_replied(self, given: dict[str, Any]) -> None:
        session = self.session(as_str(given.get("sessionID")))
        request_id = as_str(given.get("requestID")) or as_str(given.get("permissionID")) or ""
        reply = as_str(given.get("reply")) or as_str(given.get("response")) or ""
        session.assembler.settle(request_id, decision_of(reply))

    def _question_asked(self, given: dict[str, Any]) -> None:
        session = self.session(as_str(given.get("sessionID")))
        asked = questions_of(given)
        session.assembler.ask(asked.approval_id, asked.kind, **asked.fields)

    def _question_replied(self, given: dict[str, Any]) -> None:
        session = self.session(as_str(given.get("sessionID")))
        session.assembler.settle(as_str(given.get("requestID")) or "", "answered")

    def _question_rejected(self, given: dict[str, Any]) -> None:
        session = self.session(as_str(given.get("sessionID")))
        session.assembler.settle(as_str(given.get("requestID")) or "", "cancel")


_Report: TypeAlias = Callable[[OpencodeServerParser, dict[str, Any]], "bool | None"]
_REPORT: Final[dict[str, _Report]] = {
    "session.created": OpencodeServerParser._session_updated,
    "session.updated": OpencodeServerParser._session_updated,
    "message.updated": OpencodeServerParser._message_updated,
    "message.part.updated": OpencodeServerParser._part_updated,
    "message.part.delta": OpencodeServerParser._part_delta,
    "session.status": OpencodeServerParser._status,
    "session.idle": OpencodeServerParser._idle,
    "session.error": OpencodeServerParser._error,
    "session.compacted": OpencodeServerParser._compacted,
    "todo.updated": OpencodeServerParser._todo,
    "permission.asked": OpencodeServerParser._permission_asked,
    "permission.replied": OpencodeServerParser._permission_replied,
    "question.asked": OpencodeServerParser._question_asked,
    "question.replied": OpencodeServerParser._question_replied,
    "question.rejected": OpencodeServerParser._question_rejected,
}
