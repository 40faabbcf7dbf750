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

from dragoman.errors import Unsupported
from dragoman.harnesses.claude.driving.approvals import EXIT_PLAN, answer_to
from dragoman.harnesses.claude.driving.facts import limits_in, models_in, server_facts
from dragoman.harnesses.claude.driving.heard import ClaudeLine, hear
from dragoman.harnesses.claude.driving.modes import is_wider, native_mode, widened
from dragoman.harnesses.claude.driving.opening import ClaudeOpening
from dragoman.harnesses.claude.driving.tasks import ClaudeTasks
from dragoman.harnesses.claude.stream.parser import StreamJsonParser
from dragoman.harnesses.contract.conversation import Answer, Refusal, Release
from dragoman.harnesses.stream_json.driving.channel import Then
from dragoman.harnesses.stream_json.driving.conversation import StreamJsonConversation, ignore
from dragoman.harnesses.stream_json.driving.live import StreamLiveReader
from dragoman.harnesses.stream_json.driving.prompts import user_line
from dragoman.harnesses.stream_json.driving.turns import PromptedTurns
from dragoman.model import intents
from dragoman.model.answers import Model
from dragoman.model.messages import Outcome, TurnError
from dragoman.wire.loose import as_list, as_str

_TASKS: Final = frozenset(
    ("task_started", "task_updated", "task_notification", "background_tasks_changed")
)


class ClaudeConversation(StreamJsonConversation[ClaudeLine]):
    """One process, and the one session in it."""

    agent = "Claude"

    def __init__(
        self, release: Release | None = None, *, make_id: Callable[[], str] | None = None
    ) -> None:
        reader = StreamLiveReader(StreamJsonParser)
        super().__init__(reader, answer_to, PromptedTurns(), release, make_id)
        self._tasks = ClaudeTasks()
        self._opening: ClaudeOpening | None = None
        self._granted: str | None = None
        """The widest permission mode that was requested, or approved since."""
        self._models: list[Model] = []
        self._model: str | None = None
        self._effort: str | None = None
        self._is_idle = False
        """Claude itself says that it works at nothing."""

    # From the other side.

    def hear(self, line: bytes) -> ClaudeLine | None:
        return hear(line)

    def foresee(self, heard: ClaudeLine) -> None:
        if heard.type == "command_lifecycle":
            self._prompt_reported(as_str(heard.command_uuid) or "", as_str(heard.state) or "")

    def attend(self, heard: ClaudeLine) -> None:
        match heard.type:
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
        self._channel.request("interrupt", ignore)
        self._channel.request("set_permission_mode", ignore, mode=self._granted)
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

    def _ended(self, heard: ClaudeLine) -> None:
        """Claude has come to a ``result``: the end of a turn, or why there will be none."""
        errors = [each for each in as_list(heard.errors) if isinstance(each, str)]
        if self._turns.native is None and self._session_id is None and errors:
            self._complaint = "; ".join(errors)
        self._finish_turn(
            each for each in as_list(heard.user_message_uuids) if isinstance(each, str)
        )

    # Our intents.

    def carry_out(self, ticket: int, intent: intents.Intent) -> None:
        match intent:
            case intents.Greet():
                self._channel.request("initialize", self._greeted(ticket), hooks=None)
            case intents.OpenSession():
                self._open(ticket, intent)
            case intents.StartTurn():
                self._start_turn(ticket, intent)
            case intents.Compact():
                self._ask(ticket, "/compact", [])
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

    def _greeted(self, ticket: int) -> Then:
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
            self._opened(ticket, facts, refusal)

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
        if not self._is_free(ticket):
            return
        settings: list[tuple[str, dict[str, Any]]] = []
        if intent.model is not None and intent.model != self._model:
            settings.append(("set_model", {"model": intent.model}))
        if intent.effort is not None and intent.effort != self._effort:
            settings.append(("apply_flag_settings", {"settings": {"effortLevel": intent.effort}}))

        def prompt() -> None:
            self._model = intent.model or self._model
            self._effort = intent.effort or self._effort
            self._ask(ticket, intent.text, intent.images)

        self._apply_settings(ticket, settings, prompt)

    def _ask(self, ticket: int, text: str, images: list[str]) -> None:
        self._is_idle = False
        self._prompt(ticket, text, images)

    def _steer(self, ticket: int, intent: intents.Steer) -> None:
        if self._turns.open is None or intent.turn_id not in ("", self._turns.open):
            said = f"turn {intent.turn_id} is not running"
            self._refuse(ticket, "response_error", said)
        else:
            self._ask(ticket, intent.text, intent.images)

    def _interrupt(self, ticket: int, turn_id: str) -> None:
        if self._turns.is_over(turn_id):
            self._answers.append(Answer(ticket))
            return
        # What waits would otherwise run as a turn of its own as soon as this one has stopped.
        for prompt in self._turns.waiting():
            if prompt.joins is not None:
                self._channel.request("cancel_async_message", ignore, message_uuid=prompt.uuid)

        def interrupted(result: dict[str, Any], refusal: Refusal | None) -> None:
            if refusal is None and turn_id in as_list(result.get("still_queued")):
                # Claude had not started yet, so there was nothing to stop: ask again.
                said = f"turn {turn_id} has not started yet"
                refusal = Refusal(kind="response_error", message=said)
            self._done(ticket)({}, refusal)

        self._channel.request("interrupt", interrupted)

    def _decide(self, ticket: int, intent: intents.Decide) -> None:
        leaves_plan = self._approvals.tool_of(intent.approval_id) == EXIT_PLAN
        is_form = self._approvals.is_form(intent.approval_id)
        refusal = self._approvals.decide(intent)
        if is_form and refusal is None and intent.decision == "cancel":
            self._channel.request("interrupt", ignore)  # Claude would only tell the server
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
