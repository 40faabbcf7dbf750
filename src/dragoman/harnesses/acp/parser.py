"""Reads a connection with one agent: both directions as they were recorded, or what the agent alone has said.

Requests are matched with their responses in both directions, because a response only says what it answers by its id.
In a stream of the agent alone a response is known by its shape.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, NamedTuple

import msgspec

from dragoman.harnesses.acp.approvals import (
    DENY,
    WITHDRAWN,
    AcpAsked,
    ask_elicitation,
    ask_permission,
    decision_in,
)
from dragoman.harnesses.acp.files import MakeFileReader, SessionFileRows
from dragoman.harnesses.acp.methods import (
    CHANNEL,
    HOST_METHODS,
    PRIVATE,
    is_about_files,
)
from dragoman.harnesses.acp.quirks import AcpQuirks, quirks_of
from dragoman.harnesses.acp.session import HISTORY, AcpSession, prompt_in
from dragoman.harnesses.acp.shapes import AcpLine, RequestName, decode_line
from dragoman.harnesses.acp.updates import model_in, report
from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.parsing import StreamParser
from dragoman.harnesses.contract.reading import Ending
from dragoman.harnesses.contract.session_files import row_in
from dragoman.wire import jsonl
from dragoman.wire.directions import ASIDE, ERRORS, unwrap
from dragoman.wire.envelope import time_on
from dragoman.wire.loose import as_dict, as_list, as_str

_END_OF_INPUT: Final = b"<EOF>"


class _HostRequest(NamedTuple):
    """A request of the host that is not answered."""

    method: str
    session_id: str | None
    cwd: str | None
    servers: tuple[str, ...]


class AcpParser(StreamParser):
    """One process of an agent, with its sessions."""

    def __init__(
        self,
        *,
        only: frozenset[str] | None = None,
        audit: bool = False,
        harness: str = "acp",
        transport: str | None = None,
        files: MakeFileReader | None = None,
    ) -> None:
        super().__init__(only=only, audit=audit)
        self._files = SessionFileRows(self._out, files()) if files is not None else None
        self._harness = harness
        self._transport = transport
        self.quirks: AcpQuirks = quirks_of(None)
        self.version: str | None = None
        self.sessions: dict[str, AcpSession] = {}
        self.keeps_history = True
        """Whether the history that an agent repeats is emitted. A host that drives the session has it."""
        self.sent: bool | None = None
        """Whether the host sends the lines to come; None if only the lines themselves can say."""
        self._agents: dict[str, AcpSession] = {}
        self._lobby = AcpSession(self._out, harness, None, self.quirks)
        """What is said before there is a session."""
        self._now = self._lobby
        self._asked_by_host: dict[RequestName, _HostRequest] = {}
        self._asked_by_agent: dict[RequestName, AcpAsked | None] = {}

    def receive_time(self, at: datetime) -> None:
        """The lines to come arrive at this time."""
        self._out.at = at

    @property
    def current(self) -> AcpSession:
        """The session that was spoken of last."""
        return self._now

    def _speaker(self) -> SessionAssembler | None:
        return self._now.assembler

    # Lines.

    def _read(self, line: bytes) -> None:
        if self.sent is not None:
            self._report(line, self.sent)
            return
        if (at := time_on(line)) is not None:
            self._out.at = at
        inner, sent, way = unwrap(line)
        if way in ASIDE:
            self._out.duplicate("journal: how it was recorded")
        elif way in ERRORS:
            self._now.assembler.notice("stderr", "warning", inner.decode(errors="replace").strip())
        elif sent and inner.strip() == _END_OF_INPUT:
            self._out.duplicate("journal: the end of the input")
        elif way:
            self._unwrapped(inner, sent)
        else:
            self._report(inner, sent)

    def _unwrapped(self, line: bytes, sent: bool | None) -> None:
        """A line out of a journal: what cannot be read is kept without its wrapper."""
        try:
            if jsonl.is_too_deep(line):
                raise RecursionError
            self._report(line, sent)
        except jsonl.UNREADABLE:
            try:
                value = jsonl.loads(line)
            except jsonl.NotJson:
                self._malformed(line)
            else:
                self._odd(line, value)

    def _report(self, line: bytes, sent: bool | None) -> None:
        if (written := row_in(line)) is not None and self._files is not None:
            self._files.receive(written, self._session(written.session_id))
            return
        row = decode_line(line)
        if sent is None:
            sent = self._is_sent(row)
        if isinstance(row.method, str):
            known = self._host_calls(row) if sent else self._agent_calls(row)
        elif row.is_response:
            known = self._host_answers(row) if sent else self._agent_answers(row)
        else:
            known = False
        if not known:
            self._unknown(line, as_str(row.method) or "response")

    def _is_sent(self, row: AcpLine) -> bool:
        """Whether the host must have sent this line, in a stream that does not say who did."""
        if isinstance(row.method, str):
            return row.method in HOST_METHODS
        if row.name not in self._asked_by_agent or row.name in self._asked_by_host:
            return False
        # Both sides count their own ids, so only an answer to what this agent asked is the host's.
        return not {"outcome", "action"}.isdisjoint(as_dict(row.result))

    # The host.

    def _host_calls(self, row: AcpLine) -> bool:
        method, params = str(row.method), as_dict(row.params)
        session_id = as_str(params.get("sessionId"))
        servers = [as_str(as_dict(each).get("name")) for each in as_list(params.get("mcpServers"))]
        asked = _HostRequest(
            method, session_id, as_str(params.get("cwd")), tuple(filter(None, servers))
        )
        if row.name is not None:
            self._asked_by_host[row.name] = asked
        if method == "session/prompt":
            self._session(session_id).prompt(prompt_in(params))
            return True
        if method == "session/load" and session_id is not None:
            session = self._session(session_id)
            session.keeps_history = self.keeps_history
            session.calls.servers = asked.servers
            session.load(asked.cwd)
        self._out.duplicate(f"control: the host asked for {method}")
        return True

    def _host_answers(self, row: AcpLine) -> bool:
        asked = self._asked_by_agent.pop(row.name, None)
        if asked is None:
            self._out.duplicate("control: the host answered")
            return True
        decision = DENY if row.result is msgspec.UNSET else decision_in(asked, as_dict(row.result))
        if asked.call_id is not None and decision not in (
            "allow",
            "allow_for_session",
            "allow_always",
        ):
            asked.session.calls.deny(asked.call_id)
        asked.session.assembler.settle(asked.approval_id, decision)
        return True

    # The agent.

    def _agent_calls(self, row: AcpLine) -> bool:
        method, params = str(row.method), as_dict(row.params)
        if method == "session/update":
            return self._updated(params)
        is_request = row.name is not None
        if is_request:
            self._asked_by_agent[row.name] = None
        session = self._session(as_str(params.get("sessionId")))
        if method == "session/request_permission" and is_request:
            self._asked_by_agent[row.name] = self._ask(session, row)
        elif method == "elicitation/create" and is_request:
            self._asked_by_agent[row.name] = ask_elicitation(session, _id(row), params)
        elif is_about_files(method):
            self._out.duplicate("client: a file or a terminal of the host")
        elif method == "_qwencode/end_turn":
            session.end_own_turn(as_str(params.get("reason")) or "")
        elif method in PRIVATE:
            self._out.duplicate(f"state: {PRIVATE[method]}")
        else:
            return False
        return True

    def _ask(self, session: AcpSession, row: AcpLine) -> AcpAsked:
        params = as_dict(row.params)
        call_id = as_str(as_dict(params.get("toolCall")).get("toolCallId")) or ""
        session.end_history()
        owner = next((each for each in self._agents.values() if each.calls.owns(call_id)), session)
        return ask_permission(owner, _id(row), params, self.quirks)

    def _updated(self, params: dict[str, Any]) -> bool:
        update = as_dict(params.get("update"))
        session_id = as_str(params.get("sessionId"))
        if self._is_of_fork(session_id):
            self._out.duplicate(HISTORY)
            return True
        session = self._session(session_id)
        is_end = update.get("sessionUpdate") == "available_commands_update"
        if session.is_loading and not session.keeps_history and not is_end:
            self._out.duplicate(HISTORY)
            return True
        if session.is_loading and not session.assembler.has_facts:
            session.assembler.begin_session(
                version=self.version, cwd=session.cwd, transport=self._transport
            )
        parent = as_str(
            as_dict(as_dict(update.get("_meta")).get("claudeCode")).get("parentToolUseId")
        )
        if parent is not None:
            session = self._agent(session, parent)
        if session.is_loading and "usage" in as_dict(update.get("_meta")):
            self._out.duplicate("usage: of an earlier turn")
            return True
        known = report(session, update)
        self._end_agent(update)
        return known

    def _is_of_fork(self, session_id: str | None) -> bool:
        """Whether this repeats the history of a session that is being forked."""
        return session_id not in self.sessions and any(
            each.method == "session/fork" for each in self._asked_by_host.values()
        )

    def _agent_answers(self, row: AcpLine) -> bool:
        asked = self._asked_by_host.pop(row.name, None)
        result = as_dict(row.result) if row.result is not msgspec.UNSET else {}
        if asked is None:
            return self._unasked(row, result)
        if asked.method == "session/load" and asked.session_id is not None:
            self._session(asked.session_id).loaded()
        if asked.method == "session/prompt":
            session = self._session(asked.session_id)
            if row.error is not None:
                session.failed(row.error)
            else:
                session.answered(result)
            return True
        if row.error is not None:
            said = as_str(as_dict(row.error).get("message")) or "an error without a message"
            self._session(asked.session_id).assembler.notice(
                CHANNEL, "warning", f"{asked.method}: {said}"
            )
            return True
        match asked.method:
            case "initialize":
                self._greeted(result)
            case "session/new" | "session/load" | "session/resume" | "session/fork":
                self._opened(asked, result)
            case _:
                self._out.duplicate("control: the agent answered")
        return True

    def _unasked(self, row: AcpLine, result: dict[str, Any]) -> bool:
        """A response in a stream that has only the agent's lines."""
        if "stopReason" in result:
            self._now.answered(result)
        elif "protocolVersion" in result:
            self._greeted(result)
        elif isinstance(result.get("sessionId"), str):
            self._opened(_HostRequest("session/new", None, None, ()), result)
        elif row.error is not None and self._now.assembler.in_turn:
            self._now.failed(row.error)
        elif row.error is not None:
            said = as_str(as_dict(row.error).get("message")) or "an error without a message"
            self._now.assembler.notice(CHANNEL, "warning", said)
        else:
            self._out.duplicate("control: the agent answered")
        return True

    def _greeted(self, result: dict[str, Any]) -> None:
        info = as_dict(result.get("agentInfo"))
        self.quirks = quirks_of(as_str(info.get("name")))
        self.version = as_str(info.get("version"))
        for session in (self._lobby, *self.sessions.values()):
            session.quirks = session.calls.quirks = self.quirks
        self._out.duplicate("control: the agent answered")

    def _opened(self, asked: _HostRequest, result: dict[str, Any]) -> None:
        session_id = as_str(result.get("sessionId")) or asked.session_id
        session = self._session(session_id)
        session.calls.servers = asked.servers
        spending = session.assembler.spending
        spending.knows_total = asked.method == "session/new" and self.quirks.usage != "response"
        is_fork = asked.method == "session/fork"
        session.assembler.begin_session(
            version=self.version,
            model=model_in(result),
            cwd=asked.cwd,
            parent_session_id=asked.session_id if is_fork else None,
            transport=self._transport,
        )

    # Sessions.

    def _session(self, session_id: str | None) -> AcpSession:
        if session_id is None:
            return self._now
        session = self.sessions.get(session_id)
        if session is None:
            session = AcpSession(self._out, self._harness, session_id, self.quirks)
            self.sessions[session_id] = session
        self._now = session
        return session

    def _agent(self, parent: AcpSession, call_id: str) -> AcpSession:
        """The sub-agent that this call has started."""
        if (known := self._agents.get(call_id)) is not None:
            return known
        agent = self._agents[call_id] = AcpSession(self._out, self._harness, call_id, self.quirks)
        agent.calls.servers = parent.calls.servers
        agent.assembler.begin_session(
            cwd=parent.assembler.cwd,
            parent_session_id=parent.session_id,
            parent_call_id=call_id,
        )
        return agent

    def _end_agent(self, update: dict[str, Any]) -> None:
        """A sub-agent is done when the call that started it is."""
        agent = self._agents.get(as_str(update.get("toolCallId")) or "")
        status = update.get("status")
        if agent is None or status not in ("completed", "failed") or not agent.assembler.in_turn:
            return
        agent.end_turn("completed" if status == "completed" else "failed")

    def all_sessions(self) -> list[AcpSession]:
        return [*self.sessions.values(), *self._agents.values(), self._lobby]

    def withdraw_all(self) -> None:
        """The agent needs no answers any more."""
        asked, self._asked_by_agent = self._asked_by_agent, {}
        for each in asked.values():
            if each is not None:
                each.session.assembler.settle(each.approval_id, WITHDRAWN)

    def _say_held(self) -> None:
        for session in self.all_sessions():
            session.flush()
            session.calls.emit_all()

    def _finish(self, ending: Ending) -> None:
        if self._files is not None:
            self._files.end()
        for session in self.all_sessions():
            session.flush()
            if session.assembler.in_turn:
                session.calls.end_turn()
                session.assembler.leave(may_go_on=ending == "left")


def _id(row: AcpLine) -> int | str:
    return row.name if row.name is not None else ""
