"""What every live exchange over stream-json does: it keeps what must be answered, in both directions.

The stream's reader reads every line, also those that we send, and makes the messages; so a journal of the same lines
reads as the same messages. A harness says how its intents are written, and what its own lines mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Final, Generic, TypeVar
from uuid import uuid4

from dragoman.harnesses.contract.answering import AnsweringConversation
from dragoman.harnesses.contract.conversation import Answer, Refusal, Release, ToolRequest
from dragoman.harnesses.stream_json.driving.approvals import (
    ELICITATION,
    PERMISSION,
    AnswerTo,
    OpenApprovals,
)
from dragoman.harnesses.stream_json.driving.channel import LEFT, ControlChannel
from dragoman.harnesses.stream_json.driving.heard import HeardLine, long_request, long_response
from dragoman.harnesses.stream_json.driving.live import StreamLiveReader
from dragoman.harnesses.stream_json.driving.prompts import user_line
from dragoman.harnesses.stream_json.driving.tools import ToolServers
from dragoman.harnesses.stream_json.driving.turns import PromptedTurns
from dragoman.model import intents
from dragoman.model.messages import (
    ApprovalRequested,
    Message,
    Outcome,
    TurnEnded,
    TurnError,
    TurnStarted,
)
from dragoman.wire.lines import LongLine
from dragoman.wire.loose import as_dict, as_str

L = TypeVar("L", bound=HeardLine)
_TOO_LONG: Final = "the request was too long to read"
_GIVEN_UP: Final = "the turn was given up"


class StreamJsonConversation(AnsweringConversation, Generic[L]):
    """One process, and the one session in it."""

    agent: ClassVar[str]
    """What people call the agent."""

    def __init__(
        self,
        reader: StreamLiveReader,
        answer_to: AnswerTo,
        turns: PromptedTurns,
        release: Release | None,
        make_id: Callable[[], str] | None,
    ) -> None:
        super().__init__()
        self.release = release
        self._make_id = make_id or (lambda: str(uuid4()))
        self._reader = reader
        self._turns = turns
        self._channel = ControlChannel()
        self._approvals = OpenApprovals(self._channel, answer_to)
        self._tools = ToolServers(self._channel)
        self._session_id: str | None = None
        self._complaint: str | None = None
        """Why the process will not work, in its own words."""
        self._awaited: dict[str, list[int]] = {}

    # What a harness says.

    def hear(self, line: bytes) -> L | None:
        """The line, if there is anything to do about it."""
        raise NotImplementedError

    def foresee(self, heard: L) -> None:
        """Do what is to be done before the line is read."""

    def attend(self, heard: L) -> None:
        """Do what a line of the harness's own asks for, after it was read."""

    def carry_out(self, ticket: int, intent: intents.Intent) -> None:
        """Write an intent. Raises ``Unsupported``."""
        raise NotImplementedError

    # From the other side.

    def receive_line(self, line: bytes) -> None:
        heard = self.hear(line)
        if heard is not None:
            self.foresee(heard)
        self._reader.receive_line(line)
        new = self._drain()
        if heard is not None:
            self._attend(heard, new)

    def receive_long_line(self, line: LongLine) -> None:
        self._reader.receive_long_line(line)
        self._drain()
        if (request_id := long_request(line.head)) is not None:
            self._channel.refuse(request_id, _TOO_LONG)
        elif (request_id := long_response(line.head)) is not None:
            self._channel.receive_response({"request_id": request_id, "error": _TOO_LONG})

    def receive_eof(self) -> None:
        if self._eof:
            return
        self._eof = True
        self._channel.receive_eof()
        for prompt in self._turns.take_all():
            if prompt.ticket is not None:
                self._answers.append(Answer(prompt.ticket, None, self._gone()))
        for ticket in [each for tickets in self._awaited.values() for each in tickets]:
            self._answers.append(Answer(ticket, None, self._gone()))
        self._awaited.clear()
        self._approvals.drop_all()
        self._tools.drop_all()
        self._reader.cut_off(TurnError(kind="port_exit", message=LEFT, retryable=True))
        self._drain()

    def _gone(self) -> Refusal:
        if self._complaint is not None:
            return Refusal(kind="response_error", message=self._complaint)
        return Refusal(kind="port_exit", message=LEFT)

    def _attend(self, heard: L, new: list[Message]) -> None:
        match heard.type:
            case "control_request":
                self._asked(as_str(heard.request_id), as_dict(heard.request), new)
            case "control_response":
                self._channel.receive_response(as_dict(heard.response))
            case "control_cancel_request":
                request_id = as_str(heard.request_id) or ""
                self._approvals.cancel(request_id)
                self._tools.cancel(request_id)
            case _:
                self.attend(heard)

    def _asked(self, request_id: str | None, request: dict[str, Any], new: list[Message]) -> None:
        if request_id is None:
            return
        subtype = as_str(request.get("subtype"))
        if subtype == "mcp_message":
            server = as_str(request.get("server_name")) or ""
            self._tools.receive(request_id, server, as_dict(request.get("message")))
            return
        ids = [each.approval_id for each in new if isinstance(each, ApprovalRequested)]
        if subtype in (PERMISSION, ELICITATION) and ids:
            self._approvals.add(ids[0], request_id, request)
            if self._turns.is_given_up:
                self._approvals.refuse_all(_GIVEN_UP)
        elif subtype in (PERMISSION, ELICITATION):
            self._channel.refuse(request_id, "the request was not understood")
        else:
            self._channel.refuse(request_id, f"unsupported control request: {subtype}")

    def _answer_prompt(self, uuid: str, turn_id: str) -> None:
        prompt = self._turns.find(uuid)
        if prompt is not None and prompt.ticket is not None:
            self._answers.append(Answer(prompt.ticket, turn_id))
            prompt.ticket = None

    def _finish_turn(self, named: Iterable[str] = ()) -> None:
        """The agent has come to the end of a turn, which answers the prompts of these ids."""
        native = self._turns.native
        for prompt in self._turns.result(named):
            if prompt.ticket is not None and prompt.joins is not None:
                self._answers.append(Answer(prompt.ticket, prompt.joins))
            elif prompt.ticket is not None:
                unseen = (
                    f"{self.agent} ended the turn for this prompt, and did not report its start"
                )
                refusal = Refusal(kind="turn_failed", message=unseen)
                self._answers.append(Answer(prompt.ticket, None, refusal))
        self._reader.resume()
        for ticket in self._awaited.pop(native or "", ()):
            self._answers.append(Answer(ticket))
        self._approvals.drop_all()

    # Drains.

    def _drain(self) -> list[Message]:
        """Take the reader's new messages, and learn from them which turn is open."""
        new = self._reader.messages()
        for message in new:
            if not self._is_own(message) or message.turn_id is None:
                continue
            if isinstance(message, TurnStarted):
                self._turns.begin(message.turn_id)
                self._answer_prompt(message.turn_id, message.turn_id)
            elif isinstance(message, TurnEnded):
                self._turns.end(message.turn_id, message.outcome)
        self._messages += new
        return new

    def _is_own(self, message: Message) -> bool:
        """Whether it is about our session, or about the one that the agent has switched to since."""
        if message.session_id == self._session_id:
            return True
        return self._session_id is not None and self._reader.is_main(message)

    def tool_requests(self) -> list[ToolRequest]:
        return self._tools.requests()

    def lines_to_send(self) -> list[bytes]:
        lines = self._channel.lines_to_send()
        if lines:
            self._reader.receive_sent(lines)
            self._drain()
        return lines

    # Our intents.

    def _submit(self, ticket: int, intent: intents.Intent) -> None:
        self.carry_out(ticket, intent)

    def end_turn(self, session_id: str, outcome: Outcome, error: TurnError | None = None) -> None:
        self._reader.end_turn(outcome, error, is_running=self._turns.native is not None)
        self._drain()
        self._approvals.refuse_all(_GIVEN_UP)
        self._tools.give_up(_GIVEN_UP)

    def _opened(
        self, ticket: int, facts: intents.SessionFacts | None, refusal: Refusal | None
    ) -> None:
        """The session is open, or cannot be."""
        if refusal is not None and refusal.kind == "port_exit":
            refusal = self._gone()
        self._answers.append(Answer(ticket, facts, refusal))

    def _refuse(self, ticket: int, kind: str, message: str) -> None:
        self._answers.append(Answer(ticket, None, Refusal(kind=kind, message=message)))

    def _is_free(self, ticket: int) -> bool:
        """Whether a turn can be started; otherwise the intent is refused."""
        if not self._turns.is_given_up:
            return True
        said = f"{self.agent} is still at turn {self._turns.native}, which was given up"
        self._refuse(ticket, "turn_failed", said)
        return False

    def _prompt(self, ticket: int, text: str, images: list[str]) -> None:
        uuid = self._make_id()
        line = user_line(uuid, text, images)
        prompt = self._turns.sent(uuid, ticket)
        self._channel.send(line)
        if prompt.joins is not None and not self._turns.reports:
            self._answer_prompt(uuid, prompt.joins)

    def _apply_settings(
        self, ticket: int, settings: list[tuple[str, dict[str, Any]]], then: Callable[[], None]
    ) -> None:
        """Make these control requests, one after the other, and then do something; or refuse the intent."""

        def apply(result: dict[str, Any], refusal: Refusal | None) -> None:
            if refusal is not None:
                self._done(ticket)({}, refusal)
            elif settings:
                subtype, fields = settings.pop(0)
                self._channel.request(subtype, apply, **fields)
            else:
                then()

        apply({}, None)

    def _await_end(self, ticket: int, turn_id: str) -> None:
        if self._turns.native != turn_id:
            self._answers.append(Answer(ticket))
        else:
            self._awaited.setdefault(turn_id, []).append(ticket)


def ignore(result: dict[str, Any], refusal: Refusal | None) -> None:
    """Whether this could be done changes nothing."""
