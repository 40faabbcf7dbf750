"""A live exchange with an agent over ACP, line by line. No I/O, no clock, no tasks.

The parser reads every line, in both directions, and makes the messages; so a journal of the same lines reads as the
same messages. The conversation keeps what must be answered.

| intent | request | answered with |
|---|---|---|
| Greet | initialize | ServerFacts |
| OpenSession | session/new, resume, load or fork; then mode, model and options | SessionFacts |
| StartTurn | session/prompt | the turn's id |
| Interrupt | session/cancel, and ``cancelled`` for what the agent asks | nothing |
| Decide | the answer to the agent's request | nothing |
| SetAccess | session/set_mode | SessionFacts |
| ListModels | nothing | what the session has listed |
| AwaitTurnEnd | nothing | nothing, when the agent has ended the turn |
| CloseSession | session/close, where the agent has that | nothing |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from uuid import uuid4

from dragoman.errors import Unsupported
from dragoman.harnesses.acp.driving.channel import LEFT, AcpChannel
from dragoman.harnesses.acp.driving.decisions import AcpDecisions
from dragoman.harnesses.acp.driving.facts import NOTHING_OFFERED, AgentOffer, facts_of, offer_in
from dragoman.harnesses.acp.driving.live import AcpLiveReader
from dragoman.harnesses.acp.driving.modes import NEVER, SessionModes
from dragoman.harnesses.acp.driving.opening import AcpOpening, model_steps
from dragoman.harnesses.acp.driving.prompts import prompt_params
from dragoman.harnesses.acp.files import MakeFileReader
from dragoman.harnesses.acp.methods import PROTOCOL_VERSION
from dragoman.harnesses.contract.answering import AnsweringConversation
from dragoman.harnesses.contract.conversation import Answer, Refusal, Release, ToolRequest
from dragoman.harnesses.contract.session_files import ROW_BEGINS
from dragoman.model import intents
from dragoman.model.answers import Model
from dragoman.model.messages import (
    ApprovalRequested,
    Message,
    Outcome,
    TurnEnded,
    TurnError,
    TurnStarted,
)
from dragoman.wire.jsonrpc import INTERNAL_ERROR, Request
from dragoman.wire.lines import LongLine

_CAPABILITIES: Final[dict[str, Any]] = {
    "fs": {"readTextFile": False, "writeTextFile": False},
    "terminal": False,
    "elicitation": {"form": {}, "url": {}},
}
_KEPT: Final = 64


class AcpConversation(AnsweringConversation):
    """One process, and the one session in it."""

    def __init__(
        self,
        release: Release | None = None,
        *,
        harness: str = "acp",
        make_id: Callable[[], str] | None = None,
        files: MakeFileReader | None = None,
    ) -> None:
        super().__init__()
        self.release = release
        self._make_id = make_id or (lambda: str(uuid4()))
        self._reader = AcpLiveReader(harness, files)
        self._channel = AcpChannel(self._asked)
        self._decisions = AcpDecisions()
        self._offer: AgentOffer = NOTHING_OFFERED
        self._opening: AcpOpening | None = None
        self._modes = SessionModes(NOTHING_OFFERED.quirks)
        self._models: list[Model] = []
        self._listed: dict[str, Any] = {}
        """What the agent has listed when it opened the session."""
        self._session_id: str | None = None
        self._granted: str | None = None
        """The mode that was requested."""
        self._asks = True
        """Whether anyone is asked; otherwise what the agent asks is denied."""
        self._api_key: str | None = None
        self._open_turn: str | None = None
        self._native_turn: str | None = None
        """The turn that the agent is at, be it that we have ended it already."""
        self._starting: dict[str, int] = {}
        """The intents that wait for their turn to begin."""
        self._outcomes: dict[str, Outcome] = {}
        self._awaited: list[int] = []
        self._new: list[Message] = []
        """The messages of the line being read."""

    # From the other side.

    def receive_line(self, line: bytes) -> None:
        self._reader.receive_line(line)
        self._new = self._drain()
        if line.startswith(ROW_BEGINS):
            return
        self._channel.receive_line(line)
        self._check_mode(line)

    def receive_long_line(self, line: LongLine) -> None:
        self._reader.receive_long_line(line)
        self._drain()
        self._channel.receive_long_line(line)

    def receive_eof(self) -> None:
        if self._eof:
            return
        self._eof = True
        self._decisions.drop_all()
        self._channel.receive_eof()
        self._reader.cut_off(TurnError(kind="port_exit", message=LEFT, retryable=True))
        self._drain()
        for ticket in [*self._starting.values(), *self._awaited]:
            self._answers.append(Answer(ticket, None, self._gone()))
        self._starting.clear()
        self._awaited.clear()

    def _asked(self, request: Request) -> None:
        """The agent asks for a permission, or for a form to be filled in."""
        asked = next((each for each in self._new if isinstance(each, ApprovalRequested)), None)
        if asked is None:
            self._channel.refuse(request.id, INTERNAL_ERROR, "the request was not understood")
            return
        self._decisions.add(asked.approval_id, request)
        if self._is_given_up:
            self._cancel_asked()
        elif not self._asks:
            self._decide(None, _denial(asked))

    def _check_mode(self, line: bytes) -> None:
        """An agent that widens its own mode must not go on like this."""
        if b"current_mode_update" not in line or self._session_id is None:
            return
        mode = self._reader.mode_in(line)
        if mode is None:
            return
        self._modes.current = mode
        if self._granted is not None and self._modes.is_wider(mode, self._granted):
            said = f"requested the mode {self._granted!r}, {self._offer.title} applies {mode!r}"
            self._channel.notify("session/cancel", {"sessionId": self._session_id})
            self._set_mode(self._granted, _ignore)
            if self._open_turn is not None:
                error = TurnError(kind="authority", message=said, retryable=False)
                self.end_turn(self._session_id, "failed", error)

    # Drains.

    def _drain(self) -> list[Message]:
        """Take the parser's new messages, and learn from them which turn is open."""
        new = self._reader.messages()
        for message in new:
            if message.session_id != self._session_id or message.turn_id is None:
                continue
            if isinstance(message, TurnStarted):
                self._open_turn = self._native_turn = message.turn_id
                if (ticket := self._starting.pop(message.turn_id, None)) is not None:
                    self._answers.append(Answer(ticket, message.turn_id))
            elif isinstance(message, TurnEnded):
                self._ended(message.turn_id, message.outcome)
        self._messages += new
        return new

    def _ended(self, turn_id: str, outcome: Outcome) -> None:
        self._outcomes[turn_id] = outcome
        if len(self._outcomes) > _KEPT:
            del self._outcomes[next(iter(self._outcomes))]
        if self._open_turn == turn_id:
            self._open_turn = None

    @property
    def _is_given_up(self) -> bool:
        """Whether the agent is still at a turn that we have ended."""
        return self._native_turn is not None and self._open_turn is None

    def tool_requests(self) -> list[ToolRequest]:
        return []

    def lines_to_send(self) -> list[bytes]:
        lines = self._channel.lines_to_send()
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
                self._greet(ticket, intent)
            case intents.OpenSession():
                self._open(ticket, intent)
            case intents.StartTurn():
                self._start_turn(ticket, intent)
            case intents.Interrupt():
                self._interrupt(ticket, intent)
            case intents.Decide():
                self._decide(ticket, intent)
            case intents.SetAccess():
                self._set_access(ticket, intent)
            case intents.ListModels():
                self._answers.append(Answer(ticket, list(self._models)))
            case intents.AwaitTurnEnd():
                self._await_end(ticket, intent.turn_id)
            case intents.CloseSession():
                self._close(ticket, intent)
            case _:
                raise Unsupported(f"{type(intent).__name__} over ACP")

    def end_turn(self, session_id: str, outcome: Outcome, error: TurnError | None = None) -> None:
        if session_id != self._session_id or self._open_turn is None:
            return
        self._reader.end_turn(session_id, outcome, error)
        self._drain()
        self._cancel_asked()

    def _greet(self, ticket: int, intent: intents.Greet) -> None:
        self._api_key = intent.api_key

        def greeted(result: dict[str, Any], refusal: Refusal | None) -> None:
            if refusal is None:
                self._offer = offer_in(result)
                version = result.get("protocolVersion")
                if version != PROTOCOL_VERSION:
                    said = f"{self._offer.title} uses version {version!r} of ACP, not version 1"
                    refusal = Refusal(kind="unsupported", message=said)
            value = facts_of(self._offer) if refusal is None else None
            self._answers.append(Answer(ticket, value, refusal))

        info = {"name": intent.client, "title": intent.client, "version": intent.client_version}
        params = {
            "protocolVersion": PROTOCOL_VERSION,
            "clientCapabilities": _CAPABILITIES,
            "clientInfo": info,
        }
        self._channel.request("initialize", params, greeted)

    def _open(self, ticket: int, intent: intents.OpenSession) -> None:
        def finish(facts: intents.SessionFacts | None, refusal: Refusal | None) -> None:
            opening, self._opening = self._opening, None
            if facts is not None and opening is not None:
                self._session_id, self._modes = facts.session_id, opening.modes
                self._models, self._listed = opening.models, opening.result
                self._granted = opening.modes.current
                asking = intent.asking if intent.asking is not None else intent.approvals
                self._asks = asking != NEVER
            self._answers.append(Answer(ticket, facts, refusal))

        self._opening = AcpOpening(
            intent, self._offer, self._channel, finish, api_key=self._api_key
        )

    def _start_turn(self, ticket: int, intent: intents.StartTurn) -> None:
        for given, what in (
            (intent.output_schema, "a schema for one turn over ACP"),
            (intent.sandbox_policy, "a sandbox for one turn over ACP"),
            (intent.cwd, "another directory for one turn over ACP"),
            (intent.effort, "an effort for one turn over ACP"),
        ):
            if given is not None:
                raise Unsupported(what)
        turn_id = self._make_id()
        takes_images = "image" in self._offer.can
        session_id = self._session_id or intent.session_id
        params = prompt_params(
            session_id,
            turn_id,
            intent.text,
            intent.images,
            takes_images=takes_images,
            agent=None if self._outcomes else self._offer.label,
        )
        if self._native_turn is not None or self._starting:
            at = "a turn that was given up" if self._is_given_up else "another turn"
            said = f"{self._offer.title} is still at {at}"
            self._answers.append(Answer(ticket, None, Refusal(kind="turn_failed", message=said)))
            return
        self._starting[turn_id] = ticket
        steps = model_steps(self._listed, intent.model)

        def send(result: dict[str, Any], refusal: Refusal | None) -> None:
            if refusal is not None:
                if self._starting.pop(turn_id, None) is not None:
                    self._answers.append(Answer(ticket, None, refusal))
            elif steps:
                method, step = steps.pop(0)
                self._channel.request(method, {"sessionId": session_id, **step}, send)
            else:
                self._native_turn = turn_id
                self._channel.request("session/prompt", params, self._prompted(turn_id))

        send({}, None)

    def _prompted(self, turn_id: str) -> Callable[[dict[str, Any], Refusal | None], None]:
        """The agent itself has come to the end of a turn, however it did."""

        def ended(result: dict[str, Any], refusal: Refusal | None) -> None:
            self._native_turn = None
            if self._eof:
                return
            self._reader.resume()
            if (ticket := self._starting.pop(turn_id, None)) is not None:
                self._answers.append(Answer(ticket, turn_id))
            for waiting in self._awaited:
                self._answers.append(Answer(waiting))
            self._awaited.clear()
            self._cancel_asked()

        return ended

    def _interrupt(self, ticket: int, intent: intents.Interrupt) -> None:
        if intent.turn_id not in self._outcomes or intent.turn_id == self._native_turn:
            self._channel.notify("session/cancel", {"sessionId": self._session_id})
            self._cancel_asked()
        self._answers.append(Answer(ticket))

    def _cancel_asked(self) -> None:
        for request_id, answer in self._decisions.cancel_all():
            self._channel.answer(request_id, answer)

    def _decide(self, ticket: int | None, intent: intents.Decide) -> None:
        answer = self._decisions.answer(intent, self._offer.quirks)
        refusal = answer if isinstance(answer, Refusal) else None
        if not isinstance(answer, Refusal):
            self._channel.answer(*answer)
            if intent.decision == "cancel":
                self._channel.notify("session/cancel", {"sessionId": self._session_id})
                self._cancel_asked()
        if ticket is not None:
            self._answers.append(Answer(ticket, None, refusal))

    def _set_access(self, ticket: int, intent: intents.SetAccess) -> None:
        if intent.access is None:
            raise Unsupported("changing when the agent asks")
        access, mode = intent.access, self._modes.find(intent.access)
        if mode is None:
            offered = ", ".join(self._modes.offered) or "none"
            said = f"{self._offer.title} has no mode for {access!r} (its modes: {offered})"
            self._answers.append(Answer(ticket, None, Refusal(kind="unsupported", message=said)))
            return

        def changed(result: dict[str, Any], refusal: Refusal | None) -> None:
            facts = None
            if refusal is None:
                self._granted = self._modes.current = mode
                facts = intents.SessionFacts(
                    session_id=intent.session_id, access=access, sandbox=mode
                )
            self._answers.append(Answer(ticket, facts, refusal))

        self._set_mode(mode, changed)

    def _set_mode(self, mode: str, then: Callable[[dict[str, Any], Refusal | None], None]) -> None:
        params: dict[str, Any] = {"sessionId": self._session_id}
        if self._modes.option is not None:
            option = {"configId": self._modes.option, "value": mode}
            self._channel.request("session/set_config_option", params | option, then)
        else:
            self._channel.request("session/set_mode", params | {"modeId": mode}, then)

    def _close(self, ticket: int, intent: intents.CloseSession) -> None:
        if "close" not in self._offer.can:
            self._answers.append(Answer(ticket))
            return

        def closed(result: dict[str, Any], refusal: Refusal | None) -> None:
            self._answers.append(Answer(ticket, None, refusal))

        self._channel.request("session/close", {"sessionId": intent.session_id}, closed)

    def _await_end(self, ticket: int, turn_id: str) -> None:
        if self._native_turn != turn_id:
            self._answers.append(Answer(ticket))
        else:
            self._awaited.append(ticket)


def _denial(asked: ApprovalRequested) -> intents.Decide:
    return intents.Decide(
        session_id=asked.session_id or "", approval_id=asked.approval_id, decision="deny"
    )


def _ignore(result: dict[str, Any], refusal: Refusal | None) -> None:
    """Whether this could be done changes nothing."""
