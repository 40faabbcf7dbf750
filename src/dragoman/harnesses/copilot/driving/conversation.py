"""A live exchange with ``copilot --headless --stdio``, message by message. No I/O, no clock, no tasks.

The server's parser reads every line, in both directions, and makes the messages. The conversation keeps what must
be answered.

| intent | method | answered with |
|---|---|---|
| Greet | connect | ServerFacts |
| OpenSession | session.create, session.resume or sessions.fork; permissions.setMode, mode.set | SessionFacts |
| StartTurn, Steer | session.send | the id of the prompt, which is the turn's; or that of the running turn |
| Interrupt | session.abort | nothing |
| Decide, AnswerTool | the method that handles what is pending | nothing |
| CheckTurn | metadata.isProcessing | the outcome, or None while the turn runs |
| SetAccess, Rename, ListModels, ListSessions, ReadSession, CloseSession | | |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from uuid import uuid4

from dragoman.errors import Unsupported
from dragoman.harnesses.contract.answering import AnsweringConversation, Done
from dragoman.harnesses.contract.conversation import Answer, Refusal, Release, ToolRequest
from dragoman.harnesses.copilot.capabilities import ALLOW_ALL, MANUAL, PLAN
from dragoman.harnesses.copilot.driving.approvals import CopilotApproval, reply_to
from dragoman.harnesses.copilot.driving.facts import models_in, sessions_in
from dragoman.harnesses.copilot.driving.live import CopilotLiveReader
from dragoman.harnesses.copilot.driving.prompts import prompt_params, session_params
from dragoman.harnesses.copilot.server import EVENT
from dragoman.model import intents
from dragoman.model.answers import Model
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Outcome,
    TurnEnded,
    TurnError,
)
from dragoman.wire.jsonrpc import (
    CONNECTION_CLOSED,
    ErrorResponse,
    Notification,
    Peer,
    Response,
)
from dragoman.wire.lines import LongLine
from dragoman.wire.loose import as_dict, as_str

LEFT: Final = "the agent's process is gone"
_GIVEN_UP: Final = "the turn was given up"
_ENDS: Final = frozenset(("assistant.idle", "session.idle"))


class CopilotConversation(AnsweringConversation):
    """One process with many sessions."""

    def __init__(
        self, release: Release | None = None, *, make_id: Callable[[], str] | None = None
    ) -> None:
        super().__init__()
        self.release = release
        self._make_id = make_id or (lambda: str(uuid4()))
        self._peer = Peer(version_field=True, handles=frozenset())
        self._reader = CopilotLiveReader()
        self._waiting: dict[int, Done] = {}
        self._approvals: dict[str, CopilotApproval] = {}
        self._tools: dict[str, tuple[str, str]] = {}
        """Calls of our tools, by the call: the session and the request."""
        self._outcomes: dict[str, Outcome] = {}
        """How turns ended."""
        self._access: dict[str, str] = {}
        self._models: dict[str, str] = {}
        self._awaited: dict[str, list[int]] = {}
        self._requests: list[ToolRequest] = []

    # From the other side.

    def receive_line(self, line: bytes) -> None:
        self._reader.receive_line(line)
        self._peer.receive_line(line)
        for event in self._peer.events():
            match event:
                case Response(id=id, result=result):
                    self._drain(None)
                    self._settled(id, as_dict(result), None)
                case ErrorResponse(id=id, error=error):
                    refusal = Refusal(
                        kind="port_exit" if error.code == CONNECTION_CLOSED else "response_error",
                        message=error.message,
                        code=error.code,
                    )
                    self._settled(id, {}, refusal)
                case Notification(method=method, params=params) if method == EVENT:
                    self._heard(as_dict(params))
                case _:
                    pass
        self._drain(None)

    def receive_long_line(self, line: LongLine) -> None:
        self._reader.receive_long_line(line)
        self._drain(None)

    def receive_eof(self) -> None:
        if self._eof:
            return
        self._eof = True
        self._peer.receive_eof()
        for event in self._peer.events():
            if isinstance(event, ErrorResponse):
                self._settled(event.id, {}, Refusal(kind="port_exit", message=LEFT))
        for ticket in [each for tickets in self._awaited.values() for each in tickets]:
            self._answers.append(Answer(ticket, None, self._gone()))
        self._awaited.clear()
        self._drop_approvals(None)
        self._reader.cut_off(TurnError(kind="port_exit", message=LEFT, retryable=True))
        self._drain(None)

    def _settled(self, id: int, result: dict[str, Any], refusal: Refusal | None) -> None:
        done = self._waiting.pop(id, None)
        if done is not None:
            done(result, refusal)

    def _heard(self, params: dict[str, Any]) -> None:
        session_id = as_str(params.get("sessionId")) or ""
        event = as_dict(params.get("event"))
        kind, data = as_str(event.get("type")), as_dict(event.get("data"))
        self._drain(session_id)
        if kind == "external_tool.requested":
            self._tool_called(session_id, data)
        elif kind in _ENDS and event.get("agentId") is None:
            self._rested(session_id)

    def _tool_called(self, session_id: str, data: dict[str, Any]) -> None:
        request_id = as_str(data.get("requestId")) or ""
        call_id = as_str(data.get("toolCallId")) or request_id
        self._tools[call_id] = (session_id, request_id)
        tool = as_str(data.get("toolName")) or ""
        self._requests.append(ToolRequest(session_id, call_id, tool, None, data.get("arguments")))

    def _rested(self, session_id: str) -> None:
        """The agent works at nothing: what was given up is over."""
        turn_id = self._reader.given_up(session_id)
        self._reader.resume(session_id)
        self._drop_approvals(session_id)
        if turn_id is not None:
            for ticket in self._awaited.pop(turn_id, ()):
                self._answers.append(Answer(ticket))

    # Drains.

    def _drain(self, session_id: str | None) -> None:
        """Take the parser's new messages; ``session_id`` is the session that they come from."""
        for message in self._reader.messages():
            if isinstance(message, ApprovalRequested):
                owner = session_id or message.session_id or ""
                self._approvals[message.approval_id] = CopilotApproval(owner, message)
                if self._reader.given_up(owner) is not None:
                    self._refuse(message.approval_id)
            elif isinstance(message, ApprovalSettled):
                self._approvals.pop(message.approval_id, None)
            elif isinstance(message, TurnEnded) and message.turn_id is not None:
                self._outcomes[message.turn_id] = message.outcome
            self._messages.append(message)

    def _refuse(self, approval_id: str) -> None:
        approval = self._approvals.get(approval_id)
        if approval is not None:
            intent = intents.Decide(
                session_id=approval.session_id,
                approval_id=approval_id,
                decision="deny",
                message=_GIVEN_UP,
            )
            self._request(*reply_to(approval, intent), _ignore)

    def _drop_approvals(self, session_id: str | None) -> None:
        """What was asked is not waited for any longer."""
        for approval_id, (owner, asked) in list(self._approvals.items()):
            if session_id in (None, owner):
                self._reader.settle(asked.session_id or owner, approval_id, "cancel")
        self._drain(session_id)

    def tool_requests(self) -> list[ToolRequest]:
        requests, self._requests = self._requests, []
        return requests

    def lines_to_send(self) -> list[bytes]:
        lines = self._peer.lines_to_send()
        if lines:
            self._reader.receive_sent(lines)
            self._drain(None)
        return lines

    # Our intents.

    def _gone(self) -> Refusal:
        return Refusal(kind="port_exit", message=LEFT)

    def _submit(self, ticket: int, intent: intents.Intent) -> None:
        match intent:
            case intents.Greet():
                self._request("connect", {}, self._done(ticket, _server_facts))
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
            case intents.AnswerTool():
                self._answer_tool(ticket, intent)
            case intents.CheckTurn():
                self._check_turn(ticket, intent)
            case intents.AwaitTurnEnd():
                if self._reader.given_up(intent.session_id) == intent.turn_id:
                    self._awaited.setdefault(intent.turn_id, []).append(ticket)
                else:
                    self._answers.append(Answer(ticket))
            case intents.SetAccess():
                if intent.access is None or intent.asking is not None:
                    raise Unsupported("changing when Copilot asks")
                facts = intents.SessionFacts(session_id=intent.session_id)
                self._apply_access(ticket, facts, intent.access)
            case intents.Rename():
                params = {"sessionId": intent.session_id, "name": intent.name}
                self._request("session.name.set", params, self._done(ticket))
            case intents.ListModels():
                self._list_models(ticket)
            case intents.ListSessions():
                self._request("sessions.list", None, self._done(ticket, sessions_in))
            case intents.ReadSession():
                self._read_session(ticket, intent.session_id)
            case intents.CloseSession():
                params = {"sessionId": intent.session_id}
                self._request("session.destroy", params, self._done(ticket))
            case _:
                raise Unsupported(f"{type(intent).__name__} with Copilot")

    def end_turn(self, session_id: str, outcome: Outcome, error: TurnError | None = None) -> None:
        if not self._reader.end_turn(session_id, outcome, error):
            return
        self._drain(session_id)
        for approval_id in [id for id, each in self._approvals.items() if each[0] == session_id]:
            self._refuse(approval_id)
        if not self._eof:
            self._abort(session_id, _ignore)

    def _request(self, method: str, params: Any, done: Done) -> None:
        self._waiting[self._peer.request(method, params)] = done

    def _abort(self, session_id: str, done: Done) -> None:
        self._request("session.abort", {"sessionId": session_id}, done)

    def _open(self, ticket: int, intent: intents.OpenSession) -> None:
        if intent.ephemeral:
            raise Unsupported("a session without a file with Copilot")
        params = session_params(intent)

        def opened(result: dict[str, Any], refusal: Refusal | None) -> None:
            session_id = as_str(result.get("sessionId"))
            if refusal is not None or session_id is None:
                refusal = refusal or Refusal(kind="response_error", message="no session was opened")
                self._answers.append(Answer(ticket, None, refusal))
                return
            model = as_str(as_dict(result.get("modelState")).get("modelId")) or intent.model
            if model is not None:
                self._models[session_id] = model
            facts = intents.SessionFacts(
                session_id=session_id,
                model=model,
                cwd=intent.cwd,
                resumed=intent.resume is not None,
                parent_session_id=intent.fork,
            )
            self._access.setdefault(session_id, MANUAL)
            self._apply_access(ticket, facts, intent.access or MANUAL)

        def forked(result: dict[str, Any], refusal: Refusal | None) -> None:
            session_id = as_str(result.get("sessionId"))
            if refusal is not None or session_id is None:
                opened({}, refusal)
            else:
                self._request("session.resume", {**params, "sessionId": session_id}, opened)

        if intent.fork is not None:
            self._request("sessions.fork", {"sessionId": intent.fork}, forked)
        elif intent.resume is not None:
            self._request("session.resume", {**params, "sessionId": intent.resume}, opened)
        else:
            session_id = intent.session_id or self._make_id()
            self._request("session.create", {**params, "sessionId": session_id}, opened)

    def _apply_access(self, ticket: int, facts: intents.SessionFacts, access: str) -> None:
        """Set the two modes that make an access, and see which permissions the server confirms."""
        base = {"sessionId": facts.session_id}
        permissions = ALLOW_ALL if access == ALLOW_ALL else MANUAL

        def planned(result: dict[str, Any], refusal: Refusal | None) -> None:
            if refusal is not None:
                self._answers.append(Answer(ticket, None, refusal))
                return
            self._access[facts.session_id] = access
            confirmed = _with_access(facts, access)
            self._answers.append(Answer(ticket, confirmed))

        def permitted(result: dict[str, Any], refusal: Refusal | None) -> None:
            mode = as_str(result.get("mode"))
            if refusal is None and mode != permissions:
                said = f"requested the permissions {permissions!r}, Copilot applies {mode!r}"
                refusal = Refusal(kind="authority", message=said)
            if refusal is not None:
                self._answers.append(Answer(ticket, None, refusal))
                return
            mode = "plan" if access == PLAN else "interactive"
            self._request("session.mode.set", {**base, "mode": mode}, planned)

        params = {**base, "mode": permissions, "source": "rpc"}
        self._request("session.permissions.setMode", params, permitted)

    def _start_turn(self, ticket: int, intent: intents.StartTurn) -> None:
        if intent.output_schema is not None:
            raise Unsupported("a schema for one turn with Copilot")
        if intent.sandbox_policy is not None or intent.cwd is not None:
            raise Unsupported("another sandbox or directory for one turn with Copilot")
        session_id = intent.session_id
        params = prompt_params(session_id, intent.text, intent.images)
        given_up = self._reader.given_up(session_id)
        if given_up is not None:
            said = f"Copilot is still at turn {given_up}, which was given up"
            self._answers.append(Answer(ticket, None, Refusal(kind="turn_failed", message=said)))
            return

        def sent(result: dict[str, Any], refusal: Refusal | None) -> None:
            message_id = as_str(result.get("messageId"))
            if refusal is not None or message_id is None:
                refusal = refusal or Refusal(kind="response_error", message="no turn was started")
                self._answers.append(Answer(ticket, None, refusal))
                return
            running = self._reader.open_turn(session_id)
            if running is None or running == message_id:
                self._reader.begin_turn(session_id, message_id)
                self._drain(session_id)
                running = message_id
            self._answers.append(Answer(ticket, running))

        def chosen(result: dict[str, Any], refusal: Refusal | None) -> None:
            if refusal is not None:
                self._answers.append(Answer(ticket, None, refusal))
                return
            self._models[session_id] = intent.model or self._models.get(session_id, "")
            self._request("session.send", params, sent)

        if intent.model not in (None, self._models.get(session_id)) or intent.effort is not None:
            model = intent.model or self._models.get(session_id)
            switch: dict[str, Any] = {"sessionId": session_id, "modelId": model}
            if intent.effort is not None:
                switch["reasoningEffort"] = intent.effort
            self._request("session.model.switchTo", switch, chosen)
        else:
            chosen({}, None)

    def _steer(self, ticket: int, intent: intents.Steer) -> None:
        running = self._reader.open_turn(intent.session_id)
        if running is None or intent.turn_id not in ("", running):
            said = f"turn {intent.turn_id} is not running"
            self._answers.append(Answer(ticket, None, Refusal(kind="response_error", message=said)))
            return
        params = prompt_params(intent.session_id, intent.text, intent.images, mode="immediate")
        self._request("session.send", params, self._done(ticket, lambda result: running))

    def _decide(self, ticket: int, intent: intents.Decide) -> None:
        approval = self._approvals.get(intent.approval_id)
        if approval is None:
            said = f"approval {intent.approval_id} is not open"
            self._answers.append(Answer(ticket, None, Refusal(kind="response_error", message=said)))
            return
        self._request(*reply_to(approval, intent), self._done(ticket))
        if intent.decision == "cancel":
            self._abort(approval.session_id, _ignore)

    def _answer_tool(self, ticket: int, intent: intents.AnswerTool) -> None:
        session_id, request_id = self._tools.pop(
            intent.call_id, (intent.session_id, intent.call_id)
        )
        result: dict[str, Any] = {
            "textResultForLlm": intent.output,
            "resultType": "success" if intent.success else "failure",
        }
        if not intent.success:
            result["error"] = intent.output
        params = {"sessionId": session_id, "requestId": request_id, "result": result}
        self._request("session.tools.handlePendingToolCall", params, self._done(ticket))

    def _check_turn(self, ticket: int, intent: intents.CheckTurn) -> None:
        def outcome(result: dict[str, Any]) -> Outcome | None:
            known = self._outcomes.get(intent.turn_id or "")
            return known or (None if result.get("processing") is True else "completed")

        params = {"sessionId": intent.session_id}
        self._request("session.metadata.isProcessing", params, self._done(ticket, outcome))

    def _list_models(self, ticket: int) -> None:
        def listed(result: dict[str, Any], refusal: Refusal | None) -> None:
            models = models_in(result)
            if refusal is not None and refusal.kind == "response_error":
                # Without an account it lists none, and still uses the one of the user's own provider.
                models = [Model(id=name) for name in dict.fromkeys(self._models.values())]
                refusal = None
            self._answers.append(Answer(ticket, models if refusal is None else None, refusal))

        self._request("models.list", None, listed)

    def _read_session(self, ticket: int, session_id: str) -> None:
        def found(result: dict[str, Any]) -> Any:
            listed = sessions_in(result).sessions
            return next((each for each in listed if each.id == session_id), None)

        self._request("sessions.list", None, self._done(ticket, found))


def _server_facts(result: dict[str, Any]) -> intents.ServerFacts:
    return intents.ServerFacts(version=as_str(result.get("version")), agent="copilot")


def _with_access(facts: intents.SessionFacts, access: str) -> intents.SessionFacts:
    return intents.SessionFacts(
        session_id=facts.session_id,
        model=facts.model,
        cwd=facts.cwd,
        access=access,
        sandbox=access,
        resumed=facts.resumed,
        parent_session_id=facts.parent_session_id,
    )


def _ignore(result: dict[str, Any], refusal: Refusal | None) -> None:
    """Whether this could be done changes nothing."""
