"""A live exchange with ``opencode serve``, line by line. No I/O, no clock, no tasks.

The server's parser reads every line, in both directions, and makes the messages. The conversation keeps what must be
answered, and asks again for what was missed when a stream of events was interrupted.

| intent | request | answered with |
|---|---|---|
| Greet | GET /global/health | ServerFacts |
| OpenSession | GET /event and /agent of its directory; POST or GET /session, or POST …/fork | SessionFacts |
| StartTurn, Steer | POST …/prompt_async | the id of the prompt, which is the turn's; or that of the running turn |
| Interrupt | POST …/abort | nothing |
| Decide | POST /permission/…/reply, /question/…/reply or /reject | nothing |
| CheckTurn | GET /session/status | the outcome, or None while the turn runs |
| SetAccess, Rename, ListModels, ListSessions, ReadSession, CloseSession | | |
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from dragoman.errors import Unsupported
from dragoman.harnesses.contract.answering import AnsweringConversation, Done
from dragoman.harnesses.contract.conversation import Answer, Refusal, Release, ToolRequest
from dragoman.harnesses.opencode.capabilities import ALLOW, ASK, PLAN
from dragoman.harnesses.opencode.driving.access import decided_by
from dragoman.harnesses.opencode.driving.facts import models_in, session_in, sessions_in
from dragoman.harnesses.opencode.driving.live import OpencodeLiveReader
from dragoman.harnesses.opencode.driving.opening import DirectoryStreams, OpenedSession, opened
from dragoman.harnesses.opencode.driving.prompts import model_of, prompt_parts
from dragoman.harnesses.opencode.driving.replies import WaitingApproval, reply_for
from dragoman.harnesses.opencode.driving.requests import (
    HttpRequests,
    in_directory,
    of_session,
)
from dragoman.model import intents
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Message,
    Notice,
    Outcome,
    TurnEnded,
    TurnError,
    TurnStarted,
)
from dragoman.wire.lines import LongLine
from dragoman.wire.loose import as_dict, as_list, as_str

LEFT: Final = "the agent's process is gone"
_GIVEN_UP: Final = "the turn was given up"


class OpencodeConversation(AnsweringConversation):
    """One server with many sessions."""

    def __init__(self, release: Release | None = None) -> None:
        super().__init__()
        self.release = release
        self._requests = HttpRequests()
        self._reader = OpencodeLiveReader()
        self._streams = DirectoryStreams(self._requests, self._catch_up)
        self._sessions: dict[str, OpenedSession] = {}
        self._starting: dict[str, int] = {}
        """The tickets of prompts that the server has not taken up, by their sessions."""
        self._approvals: dict[str, WaitingApproval] = {}
        self._decided: set[str] = set()
        """The approvals that the access decided: users do not see them."""
        self._outcomes: dict[str, Outcome] = {}
        """How turns ended."""
        self._awaited: dict[str, list[int]] = {}

    # From the other side.

    def receive_line(self, line: bytes) -> None:
        self._reader.receive_line(line)
        self._drain()
        if not self._requests.receive_line(line):
            self._event(line)
        self._drain()

    def receive_long_line(self, line: LongLine) -> None:
        self._reader.receive_long_line(line)
        self._drain()

    def receive_eof(self) -> None:
        if self._eof:
            return
        self._eof = True
        gone = Refusal(kind="port_exit", message=LEFT)
        self._requests.close(gone)
        waiting = [each for tickets in self._awaited.values() for each in tickets]
        for ticket in (*waiting, *self._starting.values()):
            self._answers.append(Answer(ticket, None, gone))
        self._awaited.clear()
        self._starting.clear()
        self._reader.cut_off(TurnError(kind="port_exit", message=LEFT, retryable=True))
        self._drain()

    def _event(self, line: bytes) -> None:
        try:
            event = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return
        given = as_dict(as_dict(event).get("properties"))
        session_id = as_str(given.get("sessionID")) or ""
        kind = as_dict(event).get("type")
        if kind == "session.idle":
            self._rested(session_id)
        elif kind == "session.error" and self._reader.open_turn(session_id) is None:
            error = as_dict(given.get("error"))
            said = as_str(as_dict(error.get("data")).get("message")) or "no turn was started"
            self._refuse_start(session_id, Refusal(kind="response_error", message=said))

    def _rested(self, session_id: str) -> None:
        """The agent works at nothing: what was given up is over."""
        turn_id = self._reader.given_up(session_id)
        if turn_id is not None:
            self._reader.resume(session_id)
            for ticket in self._awaited.pop(turn_id, ()):
                self._answers.append(Answer(ticket))

    # Drains.

    def _drain(self) -> None:
        for message in self._reader.messages():
            if not self._is_hidden(message):
                self._messages.append(message)
            session_id = message.session_id or ""
            if isinstance(message, TurnStarted) and session_id in self._starting:
                self._answers.append(Answer(self._starting.pop(session_id), message.turn_id))
            elif isinstance(message, TurnEnded) and message.turn_id is not None:
                self._outcomes[message.turn_id] = message.outcome

    def _is_hidden(self, message: Message) -> bool:
        """Keep what waits for a decision; whether users do not see the message."""
        if isinstance(message, ApprovalRequested):
            return self._asked(message)
        if isinstance(message, ApprovalSettled):
            self._approvals.pop(message.approval_id, None)
            if message.approval_id in self._decided:
                self._decided.discard(message.approval_id)
                return True
        return False

    def _asked(self, asked: ApprovalRequested) -> bool:
        session_id = asked.session_id or ""
        root = self._reader.root(session_id)
        self._approvals[asked.approval_id] = WaitingApproval(session_id, asked)
        opened = self._sessions.get(root)
        decision = decided_by(opened.access if opened else None, asked, session_id)
        if self._reader.given_up(root) is not None:
            decision = intents.Decide(
                session_id=session_id,
                approval_id=asked.approval_id,
                decision="deny",
                message=_GIVEN_UP,
            )
        elif decision is not None:
            self._decided.add(asked.approval_id)
        if decision is not None:
            self._reply(asked, decision, _ignore)
        return asked.approval_id in self._decided

    def tool_requests(self) -> list[ToolRequest]:
        return []

    def lines_to_send(self) -> list[bytes]:
        lines = self._requests.lines()
        if lines:
            self._reader.receive_sent(lines)
            self._drain()
        return lines

    # Our intents.

    def _gone(self) -> Refusal:
        return Refusal(kind="port_exit", message=LEFT)

    def _submit(self, ticket: int, intent: intents.Intent) -> None:
        match intent:
            case intents.Greet():
                self._requests.send(
                    "GET", "/global/health", None, self._done(ticket, _server_facts)
                )
            case intents.OpenSession():
                self._open(ticket, intent)
            case intents.StartTurn():
                self._start_turn(ticket, intent)
            case intents.Steer():
                self._steer(ticket, intent)
            case intents.Interrupt():
                self._abort(intent.session_id, self._done(ticket))
            case intents.Decide():
                self._decide(ticket, intent)
            case intents.CheckTurn():
                self._check_turn(ticket, intent)
            case intents.AwaitTurnEnd():
                if self._reader.given_up(intent.session_id) == intent.turn_id:
                    self._awaited.setdefault(intent.turn_id, []).append(ticket)
                else:
                    self._answers.append(Answer(ticket))
            case intents.SetAccess():
                self._set_access(ticket, intent)
            case intents.Rename():
                path = self._path(intent.session_id)
                self._requests.send("PATCH", path, {"title": intent.name}, self._done(ticket))
            case intents.ListModels():
                done = self._done(ticket, models_in)
                self._requests.send("GET", self._streams.anywhere("/config/providers"), None, done)
            case intents.ListSessions():
                path = f"/experimental/session?roots=true&limit={intent.limit}"
                archived = "&archived=true" if intent.archived else ""
                self._requests.send("GET", path + archived, None, self._done(ticket, sessions_in))
            case intents.ReadSession():
                done = self._done(ticket, lambda body: session_in(as_dict(body)))
                self._requests.send("GET", self._path(intent.session_id), None, done)
            case intents.CloseSession():
                self._sessions.pop(intent.session_id, None)
                self._answers.append(Answer(ticket))
            case _:
                raise Unsupported(f"{type(intent).__name__} with opencode")

    def end_turn(self, session_id: str, outcome: Outcome, error: TurnError | None = None) -> None:
        waiting = [
            each.asked
            for each in self._approvals.values()
            if self._reader.root(each.session_id) == session_id
        ]
        if not self._reader.end_turn(session_id, outcome, error):
            return
        self._drain()
        if not self._eof:
            self._abort(session_id, _ignore)
        for asked in waiting:
            if asked.session_id != session_id and not self._eof:
                denied = intents.Decide(
                    session_id=session_id, approval_id=asked.approval_id, decision="cancel"
                )
                self._reply(asked, denied, _ignore)

    def _refuse(self, ticket: int, message: str, kind: str = "response_error") -> None:
        self._answers.append(Answer(ticket, None, Refusal(kind=kind, message=message)))

    def _path(self, session_id: str, rest: str = "") -> str:
        """The path of a session, or of something of it, in its directory."""
        opened = self._sessions.get(self._reader.root(session_id))
        path = of_session(session_id, rest)
        return in_directory(path, opened.directory) if opened else self._streams.anywhere(path)

    def _abort(self, session_id: str, done: Done) -> None:
        self._requests.send("POST", self._path(session_id, "/abort"), {}, done)

    # Sessions.

    def _open(self, ticket: int, intent: intents.OpenSession) -> None:
        wanted = opened(intent)

        def ready(agents: Any, refusal: Refusal | None) -> None:
            refusal = refusal or self._streams.cannot_apply(wanted.access, agents)
            if refusal is not None:
                self._answers.append(Answer(ticket, None, refusal))
                return
            path, body, method = wanted.request(intent)
            self._requests.send(method, path, body, created)

        def created(body: Any, refusal: Refusal | None) -> None:
            session_id = as_str(as_dict(body).get("id"))
            gone = refusal is not None and refusal.code == 404
            if gone and intent.or_new and intent.resume is not None:
                text = f"session {intent.resume} cannot be resumed; this is a new one"
                again = msgspec.structs.replace(intent, resume=None)
                path, fresh, method = wanted.request(again)
                self._requests.send(method, path, fresh, replaced(text))
            elif refusal is not None or session_id is None:
                refusal = refusal or Refusal(kind="response_error", message="no session was opened")
                self._answers.append(Answer(ticket, None, refusal))
            else:
                self._opened(ticket, session_id, wanted, intent)

        def replaced(text: str) -> Done:
            def done(body: Any, refusal: Refusal | None) -> None:
                before = len(self._answers)
                created(body, refusal)
                facts = self._answers[-1].value if len(self._answers) > before else None
                if isinstance(facts, intents.SessionFacts):
                    notice = Notice(session_id=facts.session_id, level="warning", text=text)
                    self._messages.append(notice)

            return done

        self._streams.ready(intent.cwd, ready)

    def _opened(
        self, ticket: int, session_id: str, wanted: OpenedSession, intent: intents.OpenSession
    ) -> None:
        self._sessions[session_id] = wanted
        facts = intents.SessionFacts(
            session_id=session_id,
            model=intent.model,
            cwd=wanted.directory,
            access=wanted.access,
            sandbox=wanted.access,
            resumed=session_id == intent.resume,
            parent_session_id=intent.fork,
        )
        self._answers.append(Answer(ticket, facts))

    def _set_access(self, ticket: int, intent: intents.SetAccess) -> None:
        if intent.access is None or intent.asking is not None:
            raise Unsupported("changing when opencode asks")
        if intent.access not in (ASK, PLAN, ALLOW):
            raise Unsupported(f"the access {intent.access!r} with opencode")
        session = self._sessions.get(intent.session_id)
        if session is None:
            self._refuse(ticket, f"session {intent.session_id} is not open")
            return
        refusal = self._streams.cannot_apply(
            intent.access, self._streams.agents.get(session.directory)
        )
        if refusal is not None:
            self._answers.append(Answer(ticket, None, refusal))
            return
        session.access = intent.access
        facts = intents.SessionFacts(
            session_id=intent.session_id,
            cwd=session.directory,
            access=session.access,
            sandbox=session.access,
        )
        self._answers.append(Answer(ticket, facts))

    # Turns.

    def _start_turn(self, ticket: int, intent: intents.StartTurn) -> None:
        if intent.output_schema is not None:
            raise Unsupported("a schema for one turn with opencode")
        if intent.sandbox_policy is not None or intent.cwd is not None:
            raise Unsupported("another sandbox or directory for one turn with opencode")
        session_id = intent.session_id
        session = self._sessions.get(session_id)
        if session is None:
            self._refuse(ticket, f"session {session_id} is not open")
            return
        if (given_up := self._reader.given_up(session_id)) is not None:
            said = f"opencode is still at turn {given_up}, which was given up"
            self._refuse(ticket, said, kind="turn_failed")
            return
        if session_id in self._starting or self._reader.open_turn(session_id) is not None:
            self._refuse(ticket, "a turn of this session is under way", kind="turn_failed")
            return
        if intent.model is not None:
            session.model = model_of(intent.model)
        body = session.prompt(prompt_parts(intent.text, intent.images), intent.effort)
        self._starting[session_id] = ticket

        def sent(body: Any, refusal: Refusal | None) -> None:
            if refusal is not None:
                self._refuse_start(session_id, refusal)

        self._requests.send("POST", self._path(session_id, "/prompt_async"), body, sent)

    def _refuse_start(self, session_id: str, refusal: Refusal) -> None:
        ticket = self._starting.pop(session_id, None)
        if ticket is not None:
            self._answers.append(Answer(ticket, None, refusal))

    def _steer(self, ticket: int, intent: intents.Steer) -> None:
        running = self._reader.open_turn(intent.session_id)
        session = self._sessions.get(intent.session_id)
        if session is None or running is None or intent.turn_id not in ("", running):
            self._refuse(ticket, f"turn {intent.turn_id} is not running")
            return
        body = session.prompt(prompt_parts(intent.text, intent.images), None)
        path = self._path(intent.session_id, "/prompt_async")
        self._requests.send("POST", path, body, self._done(ticket, lambda body: running))

    def _decide(self, ticket: int, intent: intents.Decide) -> None:
        waiting = self._approvals.get(intent.approval_id)
        if waiting is None:
            self._refuse(ticket, f"approval {intent.approval_id} is not open")
            return
        self._reply(waiting.asked, intent, self._done(ticket))
        if intent.decision == "cancel" and waiting.asked.kind != "question":
            self._abort(self._reader.root(waiting.session_id), _ignore)

    def _reply(self, asked: ApprovalRequested, intent: intents.Decide, done: Done) -> None:
        reply = reply_for(asked, intent)
        session = self._sessions.get(self._reader.root(asked.session_id or ""))
        path = (
            in_directory(reply.path, session.directory)
            if session is not None
            else self._streams.anywhere(reply.path)
        )
        self._requests.send("POST", path, reply.body, done)

    def _check_turn(self, ticket: int, intent: intents.CheckTurn) -> None:
        def checked(body: Any, refusal: Refusal | None) -> None:
            outcome: Outcome | None = None
            if refusal is None and intent.session_id not in as_dict(body):
                outcome = self._outcomes.get(intent.turn_id or "", "completed")
            self._answers.append(Answer(ticket, outcome, refusal))

        session = self._sessions.get(intent.session_id)
        path = "/session/status"
        path = in_directory(path, session.directory) if session else self._streams.anywhere(path)
        self._requests.send("GET", path, None, checked)

    # After an interruption of a stream.

    def _catch_up(self, directory: str) -> None:
        """Ask for what the stream of this directory may have missed: messages, approvals, ends.

        The parser reads the answers.
        """

        def status(body: Any, refusal: Refusal | None) -> None:
            for session_id in mine:
                if refusal is None and session_id not in as_dict(body):
                    self._rested(session_id)

        def children(body: Any, refusal: Refusal | None) -> None:
            for info in as_list(body):
                messages(as_str(as_dict(info).get("id")) or "")

        def messages(session_id: str) -> None:
            path = in_directory(of_session(session_id, "/message"), directory)
            self._requests.send("GET", path, None, _ignore)

        mine = [id for id, each in self._sessions.items() if each.directory == directory]
        for session_id in mine:
            messages(session_id)
            path = in_directory(of_session(session_id, "/children"), directory)
            self._requests.send("GET", path, None, children)
        self._requests.send("GET", in_directory("/permission", directory), None, _ignore)
        self._requests.send("GET", in_directory("/session/status", directory), None, status)


def _server_facts(body: Any) -> intents.ServerFacts:
    return intents.ServerFacts(version=as_str(as_dict(body).get("version")), agent="opencode")


def _ignore(body: Any, refusal: Refusal | None) -> None:
    """Whether this could be done changes nothing."""
