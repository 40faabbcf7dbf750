"""A live exchange with ``codex app-server`` (v2), line by line. No I/O, no clock, no tasks.

The parser decodes every line, in both directions, and makes the messages. What it decoded is passed on
to a :class:`~dragoman.wire.jsonrpc.Peer` if the line is an answer or a request, and looked at here if it
is one of the few notifications that settle something. So each line is decoded once.

| intent | method | answered with |
|---|---|---|
| Greet | initialize, account/read, account/login/start | ServerFacts |
| OpenSession | thread/start, thread/resume, thread/fork | SessionFacts, if the server confirms the authority |
| StartTurn | turn/start | the turn's id; that of the running turn, if it was taken as a word to it |
| AwaitTurnEnd | nothing | nothing, when turn/completed arrives |
| Decide, AnswerTool | the answer to the server's request | nothing |
| the others | see app_server_calls | see app_server_calls |
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from dragoman.harnesses.codex.app_server.client.calls import ClientCall, call_for, start_turn
from dragoman.harnesses.codex.app_server.client.features import CLOSE, START_STEERS
from dragoman.harnesses.codex.app_server.client.handshake import Greeting, Then
from dragoman.harnesses.codex.app_server.client.opening import OpenedThread, Opening
from dragoman.harnesses.codex.app_server.client.pending import OpenRequests
from dragoman.harnesses.codex.app_server.decoding import settled_by
from dragoman.harnesses.codex.app_server.parser import OVERLOADED, AppServerParser
from dragoman.harnesses.codex.values.loose import as_dict, as_str
from dragoman.harnesses.codex.versions import Version, can
from dragoman.harnesses.contract.conversation import Answer, Refusal, ToolRequest
from dragoman.model import intents
from dragoman.model.messages import Message, Outcome, TurnError
from dragoman.wire.jsonrpc import ErrorResponse, Notification, Peer, Request, Response
from dragoman.wire.lines import LongLine

_WATCHED: Final = frozenset(("turn/completed", "serverRequest/resolved", "account/login/completed"))
"""Notifications that settle something."""
_LONG_ANSWER: Final = re.compile(rb'\{\s*"id"\s*:\s*(\d+)\s*,\s*"result"')
_OVER_KEPT: Final = 64
_LEFT: Final = "the agent's process ended"
_HIDDEN: Final = b"[key]"


@dataclass(slots=True)
class _OpenedSession:
    """What is known of a session that was opened here."""

    policy: dict[str, Any]
    cwd: str | None


class AppServerConversation:
    """One connection, with all the sessions on it.

    Lines are numbered in the order in which they are received and taken: a line of ours counts, and
    its messages are there, once :meth:`lines_to_send` has handed it over. So call that first, then
    :meth:`messages`. ``now`` gives whole Unix seconds, for servers that ask their client for the
    time; without it their request is refused.
    """

    def __init__(
        self, release: Version | None = None, *, now: Callable[[], int] | None = None
    ) -> None:
        self.release = release
        self._parser = AppServerParser()
        self._parser.sent = False
        self._parser.answers_have_readers = True
        self._peer = Peer(version_field=False)
        self._asked = OpenRequests(self._peer, self._parser, now)
        self._waiting: dict[int, Then] = {}
        self._answers: list[Answer] = []
        self._tickets = 0
        self._greeting: Greeting | None = None
        self._secret: bytes | None = None
        self._sessions: dict[str, _OpenedSession] = {}
        self._taken: dict[str, str] = {}
        """The turn that each session has taken up last; its start may not be emitted yet."""
        self._over: dict[str, deque[str]] = {}
        """The turns of each session that the server has ended; the newest."""
        self._awaited: dict[tuple[str, str], list[int]] = {}
        """Who waits for the server to end a turn, by their tickets."""
        self._interrupts: dict[tuple[str, str], list[int]] = {}
        """Requests that stop a turn. Old servers do not answer if it is over by then."""
        self._eof = False

    # From the other side.

    def receive_line(self, line: bytes) -> None:
        if self._secret is not None:
            line = line.replace(self._secret, _HIDDEN)
        parser = self._parser
        parser.receive_line(line)
        rpc = parser.rpc
        if parser.whole is not None:
            self._attend(parser.whole, line)
        elif rpc is not None and rpc.method in _WATCHED:
            self._notified(rpc.method, settled_by(rpc.params))

    def receive_long_line(self, line: LongLine) -> None:
        self._parser.receive_long_line(line)
        answer = _LONG_ANSWER.match(line.head)
        if answer is not None:
            error = {"code": 0, "message": "too long to read"}
            self._attend({"id": int(answer[1]), "error": error}, line.head)

    def receive_eof(self) -> None:
        if self._eof:
            return
        self._eof = True
        self._peer.receive_eof()
        self._settle()
        if self._greeting is not None:
            self._greeting.receive_eof()
        self._asked.drop_all()
        for ticket in [each for tickets in self._awaited.values() for each in tickets]:
            self._answers.append(Answer(ticket, None, Refusal(kind="port_exit", message=_LEFT)))
        self._awaited.clear()
        self._parser.cut_off(TurnError(kind="port_exit", message=_LEFT, retryable=True))

    def _attend(self, value: Any, line: bytes) -> None:
        self._peer.receive_value(value, line)
        self._settle()

    def _settle(self) -> None:
        for event in self._peer.events():
            if isinstance(event, Response):
                self._answered(event.id, as_dict(event.result), None)
            elif isinstance(event, ErrorResponse):
                self._answered(event.id, {}, self._refusal(event))
            elif isinstance(event, Request):
                self._asked.receive(event)
                self._stop_cancelled()
            elif isinstance(event, Notification):
                self._notified(event.method, as_dict(event.params))

    def _answered(self, request_id: int, result: dict[str, Any], refusal: Refusal | None) -> None:
        then = self._waiting.pop(request_id, None)
        if then is not None:
            then(result, refusal)

    def _notified(self, method: str, params: dict[str, Any]) -> None:
        if method == "serverRequest/resolved":
            self._asked.resolved(params.get("requestId"))
        elif method == "turn/completed":
            session_id = as_str(params.get("threadId"))
            turn_id = as_str(as_dict(params.get("turn")).get("id"))
            if session_id is not None and turn_id is not None:
                self._asked.turn_over(session_id, turn_id)
                self._over.setdefault(session_id, deque(maxlen=_OVER_KEPT)).append(turn_id)
                for request_id in self._interrupts.pop((session_id, turn_id), ()):
                    self._answered(request_id, {}, None)
                for ticket in self._awaited.pop((session_id, turn_id), ()):
                    self._answers.append(Answer(ticket))
        elif method == "account/login/completed" and self._greeting is not None:
            self._greeting.signed_in(params)

    def _refusal(self, event: ErrorResponse) -> Refusal:
        error = event.error
        if self._eof:
            return Refusal(kind="port_exit", message=_LEFT)
        return Refusal(
            kind="turn_failed" if event.method == "turn/start" else "response_error",
            message=f"{event.method}: {error.message}",
            retry=error.code == OVERLOADED,
            code=error.code,
        )

    # Drains.

    def messages(self) -> list[Message]:
        return self._parser.messages()

    def answers(self) -> list[Answer]:
        answers, self._answers = self._answers, []
        return answers

    def tool_requests(self) -> list[ToolRequest]:
        return self._asked.tool_requests()

    def lines_to_send(self) -> list[bytes]:
        lines = self._peer.lines_to_send()
        if lines:
            self._parser.sent = True
            self._parser.receive_lines(lines)
            self._parser.sent = False
        return lines

    # Our wishes.

    def submit(self, intent: intents.Intent) -> int:
        ticket = self._tickets + 1
        if self._eof:
            self._answers.append(Answer(ticket, None, Refusal(kind="port_exit", message=_LEFT)))
        elif isinstance(intent, intents.Greet):
            self._greet(ticket, intent)
        elif isinstance(intent, intents.OpenSession):
            self._open_session(ticket, intent)
        elif isinstance(intent, intents.StartTurn):
            self._start_turn(ticket, intent)
        elif isinstance(intent, intents.Decide):
            refusal = self._asked.decide(intent, self.release)
            self._answers.append(Answer(ticket, None, refusal))
            self._stop_cancelled()
        elif isinstance(intent, intents.AnswerTool):
            self._answers.append(Answer(ticket, None, self._asked.answer_tool(intent)))
        elif isinstance(intent, intents.Interrupt):
            self._interrupt(ticket, intent)
        elif isinstance(intent, intents.AwaitTurnEnd):
            self._await_end(ticket, intent)
        elif isinstance(intent, intents.CloseSession):
            self._close_session(ticket, intent)
        else:
            self._call(ticket, call_for(intent, self.release))
        self._tickets = ticket
        return ticket

    def end_turn(self, session_id: str, outcome: Outcome, error: TurnError | None = None) -> None:
        taken = self._taken.get(session_id)
        turn_id = self._parser.open_turn(session_id) or taken
        self._parser.end_turn(session_id, taken, outcome, error)
        self._asked.turn_over(session_id, turn_id, refuse=True)

    def _ask(self, method: str, params: dict[str, Any] | None, then: Then) -> int:
        request_id = self._peer.request(method, params)
        self._waiting[request_id] = then
        return request_id

    def _interrupt(self, ticket: int, intent: intents.Interrupt) -> None:
        # Up to about 0.110 an interrupt stops the running turn, not the one that it names.
        if intent.turn_id in self._over.get(intent.session_id, ()):
            self._answers.append(Answer(ticket))
            return
        request_id = self._call(ticket, call_for(intent, self.release))
        self._interrupts.setdefault((intent.session_id, intent.turn_id), []).append(request_id)

    def _await_end(self, ticket: int, intent: intents.AwaitTurnEnd) -> None:
        if intent.turn_id in self._over.get(intent.session_id, ()):
            self._answers.append(Answer(ticket))
        else:
            key = intent.session_id, intent.turn_id
            self._awaited.setdefault(key, []).append(ticket)

    def _stop_cancelled(self) -> None:
        """``cancel`` stops the turn, also where the answer itself cannot."""
        for session_id, asked_in in self._asked.cancelled():
            turn_id = asked_in or self._parser.open_turn(session_id)
            if turn_id is None or turn_id in self._over.get(session_id, ()):
                continue
            intent = intents.Interrupt(session_id=session_id, turn_id=turn_id)
            call = call_for(intent, self.release)
            self._ask(call.method, call.params, lambda result, refusal: None)

    def _close_session(self, ticket: int, intent: intents.CloseSession) -> None:
        for known in (self._sessions, self._taken, self._over):
            known.pop(intent.session_id, None)
        if can(self.release, CLOSE):
            self._call(ticket, call_for(intent, self.release))
        else:
            self._answers.append(Answer(ticket))  # older servers keep sending

    def _call(self, ticket: int, call: ClientCall) -> int:
        def answered(result: dict[str, Any], refusal: Refusal | None) -> None:
            value = call.value(result) if refusal is None else None
            self._answers.append(Answer(ticket, value, refusal))

        return self._ask(call.method, call.params, answered)

    def _greet(self, ticket: int, intent: intents.Greet) -> None:
        def finish(facts: intents.ServerFacts | None, refusal: Refusal | None) -> None:
            self._secret = None
            if self._greeting is not None and self._greeting.release is not None:
                self.release = self._greeting.release
            self._answers.append(Answer(ticket, facts, refusal))

        self._secret = intent.api_key.encode() if intent.api_key else None
        self._greeting = Greeting(intent, self._ask, self._peer.notify, finish)

    def _open_session(self, ticket: int, intent: intents.OpenSession) -> None:
        def finish(opened: OpenedThread | None, refusal: Refusal | None) -> None:
            if opened is not None:
                facts = opened.facts
                self._sessions[facts.session_id] = _OpenedSession(opened.policy, facts.cwd)
                if opened.instead_of is not None:
                    said = f"session {opened.instead_of} is gone; a new one was started instead"
                    self._parser.note(facts.session_id, "warning", said)
            self._answers.append(Answer(ticket, opened.facts if opened else None, refusal))

        home = self._greeting.home if self._greeting else None
        Opening(intent, self.release, home, self._ask, finish)

    def _start_turn(self, ticket: int, intent: intents.StartTurn) -> None:
        session_id = intent.session_id
        session = self._sessions.setdefault(
            session_id, _OpenedSession({"type": "readOnly"}, intent.cwd)
        )
        call = start_turn(intent, self.release, session.policy, session.cwd)
        running = self._parser.open_turn(session_id)

        def answered(result: dict[str, Any], refusal: Refusal | None) -> None:
            turn_id = call.value(result) if refusal is None else None
            if refusal is None:
                session.cwd = intent.cwd or session.cwd
                session.policy = (call.params or {}).get("sandboxPolicy", session.policy)
            if turn_id is not None and not can(self.release, START_STEERS) and running:
                # These servers name a turn that will never end.
                turn_id = running
            if turn_id is not None and self._parser.has_given_up(session_id, turn_id):
                told = f"the server is still at turn {turn_id}, which was given up"
                refusal, turn_id = Refusal(kind="turn_failed", message=told), None
            if turn_id is not None:
                self._taken[session_id] = turn_id
                if turn_id in self._over.get(session_id, ()):
                    self._over[session_id].remove(turn_id)  # old servers restart their count
            self._answers.append(Answer(ticket, turn_id, refusal))

        self._ask(call.method, call.params, answered)
