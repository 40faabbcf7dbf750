"""A live exchange with ``claude -p --input-format stream-json``, line by line. No I/O, no clock, no tasks.

The stream parser reads every line, in both directions, and makes the messages; so a journal of the same lines
reads as the same messages. The conversation keeps what must be answered: control requests, prompts, turns.

| intent | line | answered with |
|---|---|---|
| Greet | initialize | ServerFacts |
| OpenSession | set_permission_mode, twice | SessionFacts, if Claude confirms the mode |
| StartTurn, Compact | a user message (``/compact``) | the turn's id; that of the running turn if it is to join that |
| Steer | a user message | the running turn's id, when Claude has queued it |
| Interrupt | interrupt, and cancel_async_message for what is queued | nothing |
| Decide, AnswerTool | the answer to Claude's request | nothing |
| StopCommands | stop_task for each command | nothing |
| CheckTurn | mcp_status, which an agent that is alive answers | the outcome, or None while the turn runs |
| AwaitTurnEnd | nothing | nothing, when Claude has ended the turn |
| Rename, ListModels, ReadRateLimits, CloseSession | rename_session, initialize, get_usage, end_session | |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from uuid import uuid4

from dragoman.errors import Unsupported
from dragoman.harnesses.claude.driving.approvals import ELICITATION, PERMISSION, OpenApprovals
from dragoman.harnesses.claude.driving.control import LEFT, ControlChannel
from dragoman.harnesses.claude.driving.facts import limits_in, models_in, server_facts
from dragoman.harnesses.claude.driving.heard import ClaudeLine, hear, long_request, long_response
from dragoman.harnesses.claude.driving.live import ClaudeLiveReader
from dragoman.harnesses.claude.driving.modes import is_wider, native_mode, widened
from dragoman.harnesses.claude.driving.opening import ClaudeOpening
from dragoman.harnesses.claude.driving.prompts import user_line
from dragoman.harnesses.claude.driving.tasks import ClaudeTasks
from dragoman.harnesses.claude.driving.tools import ToolServers
from dragoman.harnesses.claude.driving.turns import ClaudeTurns
from dragoman.harnesses.contract.conversation import Answer, Refusal, Release, ToolRequest
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
from dragoman.wire.lines import LongLine
from dragoman.wire.loose import as_dict, as_list, as_str

_TOO_LONG: Final = "the request was too long to read"
_GIVEN_UP: Final = "the turn was given up"
_UNSEEN: Final = "Claude ended the turn for this prompt, and did not report its start"
_TASKS: Final = frozenset(
    ("task_started", "task_updated", "task_notification", "background_tasks_changed")
)


class ClaudeConversation:
    """One process, and the one session in it."""

    def __init__(
        self, release: Release | None = None, *, make_id: Callable[[], str] | None = None
    ) -> None:
        self.release = release
        self._make_id = make_id or (lambda: str(uuid4()))
        self._reader = ClaudeLiveReader()
        self._channel = ControlChannel()
        self._approvals = OpenApprovals(self._channel)
        self._tools = ToolServers(self._channel)
        self._tasks = ClaudeTasks()
        self._turns = ClaudeTurns()
        self._opening: ClaudeOpening | None = None
        self._session_id: str | None = None
        self._granted: str | None = None
        """The widest permission mode that was requested, or approved since."""
        self._models: list[Model] = []
        self._model: str | None = None
        self._effort: str | None = None
        self._is_idle = False
        """Claude itself says that it works at nothing."""
        self._complaint: str | None = None
        """Why the process will not work, in its own words."""
        self._awaited: dict[str, list[int]] = {}
        self._messages: list[Message] = []
        self._answers: list[Answer] = []
        self._tickets = 0
        self._eof = False

    # From the other side.

    def receive_line(self, line: bytes) -> None:
        heard = hear(line)
        if heard is not None and heard.type == "command_lifecycle":
            self._prompt_reported(as_str(heard.command_uuid) or "", as_str(heard.state) or "")
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

    def _attend(self, heard: ClaudeLine, new: list[Message]) -> None:
        match heard.type:
            case "control_request":
                self._asked(as_str(heard.request_id), as_dict(heard.request), new)
            case "control_response":
                self._channel.receive_response(as_dict(heard.response))
            case "control_cancel_request":
                request_id = as_str(heard.request_id) or ""
                self._approvals.cancel(request_id)
                self._tools.cancel(request_id)
            case "result":
                self._ended(heard)
            case "system":
                self._told(as_str(heard.subtype) or "", heard)
            case "user" if heard.isReplay is True:
                prompt = self._turns.find(as_str(heard.uuid) or "")
                if prompt is not None:
                    prompt.state = "started"
            case _:
                pass

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

    def _told(self, subtype: str, heard: ClaudeLine) -> None:
        mode, session_id = as_str(heard.permissionMode), as_str(heard.session_id)
        if self._opening is not None:
            self._opening.receive_status(session_id, mode)
        elif mode is not None and self._granted is not None and is_wider(mode, self._granted):
            self._overreach(mode)
        if subtype == "init":
            self._model = as_str(heard.model) or self._model
        elif subtype == "session_state_changed":
            self._is_idle = heard.state == "idle"
        elif subtype in _TASKS:
            self._tasks.receive(subtype, heard)

    def _overreach(self, mode: str) -> None:
        """Claude applies more than was granted: the turn must not go on like this."""
        said = f"requested the permission mode {self._granted!r}, Claude applies {mode!r}"
        self._channel.request("interrupt", _ignore)
        self._channel.request("set_permission_mode", _ignore, mode=self._granted)
        if self._turns.open is not None and self._session_id is not None:
            error = TurnError(kind="authority", message=said, retryable=False)
            self.end_turn(self._session_id, "failed", error)

    def _prompt_reported(self, uuid: str, state: str) -> None:
        self._turns.reports = True
        prompt = self._turns.find(uuid)
        if prompt is None:
            return
        match state:
            case "queued":
                prompt.state = "queued"
                if prompt.joins is not None:
                    self._answer_prompt(uuid, prompt.joins)
            case "started":
                prompt.state = "started"
                if self._turns.open is not None:
                    self._answer_prompt(uuid, self._turns.open)
            case "completed" | "cancelled" | "failed":
                self._turns.forget(uuid)
                if prompt.ticket is not None:
                    said = f"Claude has not taken the prompt up: {state}"
                    refusal = Refusal(kind="turn_failed", message=said)
                    self._answers.append(Answer(prompt.ticket, None, refusal))
            case _:
                pass

    def _answer_prompt(self, uuid: str, turn_id: str) -> None:
        prompt = self._turns.find(uuid)
        if prompt is not None and prompt.ticket is not None:
            self._answers.append(Answer(prompt.ticket, turn_id))
            prompt.ticket = None

    def _ended(self, heard: ClaudeLine) -> None:
        """Claude has come to a ``result``: the end of a turn, or why there will be none."""
        native = self._turns.native
        errors = [each for each in as_list(heard.errors) if isinstance(each, str)]
        if native is None and self._session_id is None and errors:
            self._complaint = "; ".join(errors)
        named = [each for each in as_list(heard.user_message_uuids) if isinstance(each, str)]
        for prompt in self._turns.result(named):
            if prompt.ticket is not None and prompt.joins is not None:
                self._answers.append(Answer(prompt.ticket, prompt.joins))
            elif prompt.ticket is not None:
                refusal = Refusal(kind="turn_failed", message=_UNSEEN)
                self._answers.append(Answer(prompt.ticket, None, refusal))
        self._reader.resume()
        for ticket in self._awaited.pop(native or "", ()):
            self._answers.append(Answer(ticket))
        self._approvals.drop_all()

    # Drains.

    def _drain(self) -> list[Message]:
        """Take the parser's new messages, and learn from them which turn is open."""
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
        """Whether it is about our session, or about the one that Claude has switched to since."""
        if message.session_id == self._session_id:
            return True
        return self._session_id is not None and self._reader.is_main(message)

    def messages(self) -> list[Message]:
        messages, self._messages = self._messages, []
        return messages

    def answers(self) -> list[Answer]:
        answers, self._answers = self._answers, []
        return answers

    def tool_requests(self) -> list[ToolRequest]:
        return self._tools.requests()

    def lines_to_send(self) -> list[bytes]:
        lines = self._channel.lines_to_send()
        if lines:
            self._reader.receive_sent(lines)
            self._drain()
        return lines

    # Our intents.

    def submit(self, intent: intents.Intent) -> int:
        ticket = self._tickets + 1
        if self._eof:
            self._answers.append(Answer(ticket, None, self._gone()))
        else:
            self._submit(ticket, intent)
        self._tickets = ticket
        return ticket

    def _submit(self, ticket: int, intent: intents.Intent) -> None:
        match intent:
            case intents.Greet():
                self._channel.request("initialize", self._greeted(ticket), hooks=None)
            case intents.OpenSession():
                self._open(ticket, intent)
            case intents.StartTurn():
                self._start_turn(ticket, intent)
            case intents.Compact():
                self._prompt(ticket, "/compact", [])
            case intents.Steer():
                self._steer(ticket, intent)
            case intents.Interrupt():
                self._interrupt(ticket, intent.turn_id)
            case intents.Decide():
                self._decide(ticket, intent)
            case intents.AnswerTool():
                self._answers.append(Answer(ticket, None, self._tools.answer(intent)))
            case intents.StopCommands():
                self._stop_commands(ticket)
            case intents.CheckTurn():
                self._check_turn(ticket, intent.turn_id)
            case intents.AwaitTurnEnd():
                self._await_end(ticket, intent.turn_id)
            case intents.SetAccess():
                self._set_access(ticket, intent)
            case intents.Rename():
                self._channel.request("rename_session", self._done(ticket), title=intent.name)
            case intents.ListModels():
                self._answers.append(Answer(ticket, list(self._models)))
            case intents.ReadRateLimits():
                self._channel.request("get_usage", self._done(ticket, limits_in))
            case intents.CloseSession():
                self._channel.request("end_session", self._done(ticket))
            case _:
                raise Unsupported(f"{type(intent).__name__} with Claude")

    def end_turn(self, session_id: str, outcome: Outcome, error: TurnError | None = None) -> None:
        self._reader.end_turn(outcome, error, is_running=self._turns.native is not None)
        self._drain()
        self._approvals.refuse_all(_GIVEN_UP)
        self._tools.give_up(_GIVEN_UP)

    def _done(
        self, ticket: int, value: Callable[[dict[str, Any]], Any] = lambda result: None
    ) -> Callable[[dict[str, Any], Refusal | None], None]:
        def answered(result: dict[str, Any], refusal: Refusal | None) -> None:
            if refusal is not None and refusal.kind == "port_exit":
                refusal = self._gone()
            self._answers.append(
                Answer(ticket, value(result) if refusal is None else None, refusal)
            )

        return answered

    def _greeted(self, ticket: int) -> Callable[[dict[str, Any], Refusal | None], None]:
        def facts(result: dict[str, Any]) -> intents.ServerFacts:
            self._models = models_in(result)
            return server_facts(result)

        return self._done(ticket, facts)

    def _open(self, ticket: int, intent: intents.OpenSession) -> None:
        def finish(facts: intents.SessionFacts | None, refusal: Refusal | None) -> None:
            if facts is not None and self._opening is not None:
                self._session_id, self._granted = facts.session_id, self._opening.mode
                self._tools.open(facts.session_id, intent.tools)
            self._opening = None
            if refusal is not None and refusal.kind == "port_exit":
                refusal = self._gone()
            self._answers.append(Answer(ticket, facts, refusal))

        self._effort = as_str(intent.config.get("effort"))
        self._opening = ClaudeOpening(intent, self._channel, finish)

    def _start_turn(self, ticket: int, intent: intents.StartTurn) -> None:
        if intent.output_schema is not None:
            raise Unsupported("a schema for one turn with Claude")
        if intent.sandbox_policy is not None:
            raise Unsupported("a sandbox for one turn with Claude")
        if intent.cwd is not None:
            raise Unsupported("another directory for one turn with Claude")
        user_line("", intent.text, intent.images)  # raises before anything is sent
        if self._turns.is_given_up:
            said = f"Claude is still at turn {self._turns.native}, which was given up"
            self._answers.append(Answer(ticket, None, Refusal(kind="turn_failed", message=said)))
            return
        settings: list[tuple[str, dict[str, Any]]] = []
        if intent.model is not None and intent.model != self._model:
            settings.append(("set_model", {"model": intent.model}))
        if intent.effort is not None and intent.effort != self._effort:
            settings.append(("apply_flag_settings", {"settings": {"effortLevel": intent.effort}}))

        def apply(result: dict[str, Any], refusal: Refusal | None) -> None:
            if refusal is not None:
                self._done(ticket)({}, refusal)
            elif settings:
                subtype, fields = settings.pop(0)
                self._channel.request(subtype, apply, **fields)
            else:
                self._model = intent.model or self._model
                self._effort = intent.effort or self._effort
                self._prompt(ticket, intent.text, intent.images)

        apply({}, None)

    def _prompt(self, ticket: int, text: str, images: list[str]) -> None:
        uuid = self._make_id()
        line = user_line(uuid, text, images)
        prompt = self._turns.sent(uuid, ticket)
        self._is_idle = False
        self._channel.send(line)
        if prompt.joins is not None and not self._turns.reports:
            self._answer_prompt(uuid, prompt.joins)

    def _steer(self, ticket: int, intent: intents.Steer) -> None:
        if self._turns.open is None or intent.turn_id not in ("", self._turns.open):
            said = f"turn {intent.turn_id} is not under way"
            self._answers.append(Answer(ticket, None, Refusal(kind="response_error", message=said)))
        else:
            self._prompt(ticket, intent.text, intent.images)

    def _interrupt(self, ticket: int, turn_id: str) -> None:
        if self._turns.is_over(turn_id):
            self._answers.append(Answer(ticket))
            return
        # What waits would otherwise run as a turn of its own as soon as this one has stopped.
        for prompt in self._turns.waiting():
            if prompt.joins is not None:
                self._channel.request("cancel_async_message", _ignore, message_uuid=prompt.uuid)

        def interrupted(result: dict[str, Any], refusal: Refusal | None) -> None:
            if refusal is None and turn_id in as_list(result.get("still_queued")):
                # Claude had not started yet, so there was nothing to stop: ask again.
                said = f"turn {turn_id} has not started yet"
                refusal = Refusal(kind="response_error", message=said)
            self._done(ticket)({}, refusal)

        self._channel.request("interrupt", interrupted)

    def _decide(self, ticket: int, intent: intents.Decide) -> None:
        leaves_plan = self._approvals.is_plan(intent.approval_id)
        refusal = self._approvals.decide(intent)
        if leaves_plan and refusal is None and intent.decision not in ("deny", "cancel"):
            self._granted = widened(self._granted)
        self._answers.append(Answer(ticket, None, refusal))

    def _set_access(self, ticket: int, intent: intents.SetAccess) -> None:
        if intent.asking is not None or intent.access is None:
            raise Unsupported("changing when Claude asks")
        mode = native_mode(intent.access)

        def facts(result: dict[str, Any]) -> intents.SessionFacts:
            self._granted = as_str(result.get("mode")) or mode
            return intents.SessionFacts(
                session_id=intent.session_id, access=self._granted, sandbox=self._granted
            )

        self._channel.request("set_permission_mode", self._done(ticket, facts), mode=mode)

    def _stop_commands(self, ticket: int) -> None:
        left = self._tasks.commands()

        def stop(result: dict[str, Any], refusal: Refusal | None) -> None:
            if refusal is not None or not left:
                self._done(ticket)({}, refusal)
            else:
                self._channel.request("stop_task", stop, task_id=left.pop(0))

        stop({}, None)

    def _check_turn(self, ticket: int, turn_id: str | None) -> None:
        def outcome(result: dict[str, Any]) -> Outcome | None:
            known = self._turns.outcome(turn_id)
            return "completed" if known is None and self._is_idle else known

        self._channel.request("mcp_status", self._done(ticket, outcome))

    def _await_end(self, ticket: int, turn_id: str) -> None:
        if self._turns.native != turn_id:
            self._answers.append(Answer(ticket))
        else:
            self._awaited.setdefault(turn_id, []).append(ticket)


def _ignore(result: dict[str, Any], refusal: Refusal | None) -> None:
    """Whether this could be done changes nothing."""
