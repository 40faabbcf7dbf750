"""Reading an exchange with ``opencode serve``: requests, responses and events, each as a line.

| line | what it is |
|---|---|
| ``{"id", "method", "path", "body"}`` | a request of ours |
| ``{"id", "status", "body"}``, ``{"id", "error"}`` | its response, or why there is none |
| ``{"id": "evt_…", "type", "properties"}`` | an event of the server |
| ``{"directory", "payload": {…}}`` | the same, from the stream for all directories |

A recording may leave out the ids of requests. A session that is branched off begins with copies of older messages,
which are left out: they are content of the session that they come from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias
from urllib.parse import parse_qs

import msgspec

from dragoman.harnesses.opencode.approvals import decision_of, questions_of
from dragoman.harnesses.opencode.failures import error_of
from dragoman.harnesses.opencode.reading.sessions import OpencodeParser
from dragoman.harnesses.opencode.sniff import SESSION
from dragoman.harnesses.opencode.tools import plan_in
from dragoman.wire.loose import as_dict, as_int, as_list, as_number, as_str

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
    "models-dev.",
    "session.diff",
    "session.deleted",
    "message.removed",
    "message.part.removed",
)
"""Beginnings of events that say how the program is doing, and add nothing to the conversation."""


class _Inquiry(NamedTuple):
    """A request whose response says what events may not have said."""

    about: Literal["messages", "children", "permissions", "status"]
    session_id: str = ""
    turns: Mapping[str, str] = {}
    """The open turns of the directory, by their sessions."""


_ABORT: Final = re.compile(r"/session/([^/?]+)/abort(?:\?|$)")
_MESSAGES: Final = re.compile(r"/session/([^/?]+)/message(?:\?|$)")
_CHILDREN: Final = re.compile(r"/session/([^/?]+)/children(?:\?|$)")


class _ServerLine(msgspec.Struct, gc=False):
    id: Any = None
    type: str | None = None
    properties: dict[str, Any] | None = None
    method: str | None = None
    path: str | None = None
    status: Any = None
    body: Any = None
    error: Any = None
    payload: Any = None


_decode: Final = msgspec.json.Decoder(_ServerLine).decode


class OpencodeServerParser(OpencodeParser):
    """One server with its sessions."""

    def __init__(self, *, only: frozenset[str] | None = None, audit: bool = False) -> None:
        super().__init__(only=only, audit=audit)
        self._asked: dict[Any, _Inquiry] = {}
        """What was asked for to catch up, by the id of the request."""

    def receive_sent(self, lines: Iterable[bytes]) -> None:
        """Take lines that we send."""
        for line in lines:
            self._out.line += 1
            self._read_own(line, sent=True)

    def _read_own(self, line: bytes, *, sent: bool | None) -> None:
        row = _decode(line)
        kind, given = row.type, row.properties
        if payload := as_dict(row.payload):
            kind, given = as_str(payload.get("type")), payload.get("properties")
            if kind == "sync":
                self._speaker().duplicate("state: the event that came before, for other machines")
                return
        if kind is not None and isinstance(given, dict):
            if not self._event(kind, as_dict(given)):
                self._unknown(line, kind)
        elif row.method is not None and row.path is not None:
            self._request(row, row.path)
        elif row.status is not None or (row.id is not None and row.error is not None):
            self._response(row)
        else:
            raise msgspec.ValidationError("no event, request or response")

    def _request(self, row: _ServerLine, path: str) -> None:
        if (found := _ABORT.search(path)) is not None:
            self.session(found[1]).interrupt()
        if row.method == "GET" and row.id is not None:
            if found := _MESSAGES.search(path):
                self._asked[row.id] = _Inquiry("messages", found[1])
            elif found := _CHILDREN.search(path):
                self._asked[row.id] = _Inquiry("children", found[1])
            elif path.startswith("/permission?"):
                self._asked[row.id] = _Inquiry("permissions")
            elif path.startswith("/session/status?"):
                self._asked[row.id] = _Inquiry("status", turns=self._turns_in(path))
        self._speaker().duplicate(f"request: {row.method} {path.split('?')[0]}")

    def _response(self, row: _ServerLine) -> None:
        body = as_dict(row.body)
        status = as_int(row.status) or 0
        error = as_dict(body.get("data")).get("message") or body.get("message")
        if status >= 400 and isinstance(error, str):
            self._speaker().notice("answer", "error", f"HTTP {status}: {error}")
        elif row.error is not None:
            self._speaker().notice("answer", "error", str(row.error))
        elif row.id is not None and (asked := self._asked.pop(row.id, None)) is not None:
            self._catch_up(asked, row.body)
        elif (as_str(body.get("id")) or "").startswith(SESSION) and "directory" in body:
            self._session_updated({"info": body})
        else:
            self._speaker().duplicate("answer: its events carry it")

    def _turns_in(self, path: str) -> dict[str, str]:
        directories = parse_qs(path.partition("?")[2]).get("directory", [])
        return {
            name: turn
            for name, session in self.sessions.items()
            if session.assembler.cwd in directories
            and (turn := session.assembler.open_turn) is not None
        }

    def _catch_up(self, asked: _Inquiry, body: Any) -> None:
        """How things stand: events about it may have been missed."""
        session = self.session(asked.session_id or None)
        if asked.about == "messages":
            for message in map(as_dict, as_list(body)):
                session.message(as_dict(message.get("info")))
                for part in map(as_dict, as_list(message.get("parts"))):
                    self.report_part(session, part)
        elif asked.about == "children":
            for info in map(as_dict, as_list(body)):
                self._session_updated({"info": info})
        elif asked.about == "permissions":
            for each in map(as_dict, as_list(body)):
                self._permission_asked(each)
        else:
            for name, turn in asked.turns.items():
                if name not in as_dict(body) and self.sessions[name].assembler.open_turn == turn:
                    self.sessions[name].rest()
        session.assembler.duplicate("answer: how things stand")

    def _event(self, kind: str, given: dict[str, Any]) -> bool:
        if kind == "server.heartbeat":
            for session in self.sessions.values():
                session.settle_down()
        report = _REPORT.get(kind)
        if report is not None:
            return report(self, given) is not False
        if kind.startswith(_STATES):
            self.session(as_str(given.get("sessionID"))).assembler.duplicate(f"state: {kind}")
            return True
        return False

    def _session_updated(self, given: dict[str, Any]) -> None:
        info = as_dict(given.get("info"))
        created = as_number(as_dict(info.get("time")).get("created"))
        if created is not None:
            self.session(as_str(info.get("id"))).created = created
        self.session_info(info)

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
            reason = (as_str(status.get("message")) or "the request failed").rstrip(".")
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
        session_id = as_str(given.get("sessionID"))
        if session_id is None:  # of the server itself
            self._speaker().notice("server", "error", error_of(given.get("error")).message)
        else:
            self.session(session_id).fail(given.get("error"))

    def _compacted(self, given: dict[str, Any]) -> None:
        self.session(as_str(given.get("sessionID"))).assembler.compacted("part")

    def _todo(self, given: dict[str, Any]) -> None:
        session = self.session(as_str(given.get("sessionID")))
        session.assembler.plan(plan_in(given.get("todos")))

    def _permission_asked(self, given: dict[str, Any]) -> None:
        session = self.session(as_str(given.get("sessionID")))
        session.ask(given)

    def _permission_replied(self, given: dict[str, Any]) -> None:
        session = self.session(as_str(given.get("sessionID")))
        request_id = as_str(given.get("requestID")) or as_str(given.get("permissionID")) or ""
        reply = as_str(given.get("reply")) or as_str(given.get("response")) or ""
        session.ask_now()
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
