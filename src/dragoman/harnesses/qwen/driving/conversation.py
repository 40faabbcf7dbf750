"""A live exchange with ``qwen --input-format stream-json``, line by line. No I/O, no clock, no tasks.

Its turns follow one another: a prompt for an agent at work becomes the next turn, and an interrupt stops the turn that
runs, if one does.

| intent | line | answered with |
|---|---|---|
| Greet | initialize | ServerFacts |
| OpenSession | set_permission_mode, set_effort | SessionFacts, if Qwen confirms the mode |
| StartTurn, Compact | set_model, set_effort, a user message (``/compress``) | the turn's id, when it begins |
| Interrupt | interrupt | nothing |
| Decide, AnswerTool | the answer to Qwen's request | nothing |
| CheckTurn | mcp_server_status, which an agent that is alive answers | the outcome, or None while the turn runs |
| AwaitTurnEnd | nothing | nothing, when Qwen has ended the turn |
| SetAccess, ListModels | set_permission_mode, get_available_models | |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from dragoman.errors import Unsupported
from dragoman.harnesses.contract.conversation import Answer, Refusal, Release
from dragoman.harnesses.qwen.capabilities import EFFORTS
from dragoman.harnesses.qwen.driving.approvals import answer_to
from dragoman.harnesses.qwen.driving.heard import QwenLine, hear
from dragoman.harnesses.qwen.driving.modes import is_wider, mode_of, native_mode, widened
from dragoman.harnesses.qwen.stream.parser import QwenStreamParser, has_counts
from dragoman.harnesses.stream_json.driving.conversation import StreamJsonConversation, ignore
from dragoman.harnesses.stream_json.driving.live import StreamLiveReader
from dragoman.harnesses.stream_json.driving.turns import PromptedTurns
from dragoman.model import intents
from dragoman.model.answers import Model
from dragoman.model.messages import Outcome, TurnError
from dragoman.wire.loose import as_dict, as_list, as_str

_PATIENCE_MS: Final = 600_000
"""How long Qwen waits for the answer to a request: the most that it accepts; otherwise it would be one minute."""
_EXIT_PLAN: Final = "exit_plan_mode"


class QwenConversation(StreamJsonConversation[QwenLine]):
    """One process, and the one session in it."""

    agent = "Qwen"

    def __init__(
        self, release: Release | None = None, *, make_id: Callable[[], str] | None = None
    ) -> None:
        reader = StreamLiveReader(QwenStreamParser)
        super().__init__(reader, answer_to, PromptedTurns(joins=False), release, make_id)
        self._named: str | None = None
        """The session that the process names when it is greeted."""
        self._granted: str | None = None
        """The widest approval mode that was requested, or approved since."""
        self._model: str | None = None
        self._effort: str | None = None
        self._taken: str | None = None
        """The turn that Qwen itself has begun."""
        self._is_of_agent = False
        """Whether the result being read is about a sub-agent."""

    # From the other side.

    def hear(self, line: bytes) -> QwenLine | None:
        return hear(line)

    def foresee(self, heard: QwenLine) -> None:
        self._is_of_agent = (
            heard.type == "result"
            and not has_counts(heard.duration_ms, heard.usage)
            and self._reader.has_agents_at_work
        )

    def attend(self, heard: QwenLine) -> None:
        if heard.type == "result" and not self._is_of_agent:
            self._finish_turn()
        elif heard.type == "system" and heard.subtype == "init":
            self._taken = self._turns.native
            self._model = as_str(heard.model) or self._model
            mode = as_str(heard.permission_mode)
            if mode is not None and self._granted is not None and is_wider(mode, self._granted):
                self._overreach(mode)

    def _overreach(self, mode: str) -> None:
        """Qwen applies more than was granted: the turn must not go on like this."""
        said = f"requested the approval mode {self._granted!r}, Qwen applies {mode!r}"
        self._channel.request("interrupt", ignore)
        self._channel.request("set_permission_mode", ignore, mode=self._granted)
        if self._turns.open is not None and self._session_id is not None:
            error = TurnError(kind="authority", message=said, retryable=False)
            self.end_turn(self._session_id, "failed", error)

    # Our intents.

    def carry_out(self, ticket: int, intent: intents.Intent) -> None:
        match intent:
            case intents.Greet():
                self._greet(ticket)
            case intents.OpenSession():
                self._open(ticket, intent)
            case intents.StartTurn():
                self._start_turn(ticket, intent)
            case intents.Compact():
                if self._is_free(ticket):
                    self._prompt(ticket, "/compress", [])
            case intents.Interrupt():
                self._interrupt(ticket, intent.turn_id)
            case intents.Decide():
                self._decide(ticket, intent)
            case intents.AnswerTool():
                self._answers.append(Answer(ticket, None, self._tools.answer(intent)))
            case intents.CheckTurn():
                self._check_turn(ticket, intent.turn_id)
            case intents.AwaitTurnEnd():
                self._await_end(ticket, intent.turn_id)
            case intents.SetAccess():
                self._set_access(ticket, intent)
            case intents.ListModels():
                self._channel.request("get_available_models", self._done(ticket, self._models))
            case intents.CloseSession():
                self._answers.append(Answer(ticket))  # the process ends with its input
            case _:
                raise Unsupported(f"{type(intent).__name__} with Qwen")

    def _greet(self, ticket: int) -> None:
        def facts(result: dict[str, Any]) -> intents.ServerFacts:
            self._named = as_str(result.get("session_id"))
            version = ".".join(map(str, self.release)) if self.release is not None else None
            return intents.ServerFacts(version=version, agent="qwen-code")

        timeout = {"canUseTool": _PATIENCE_MS}
        self._channel.request("initialize", self._done(ticket, facts), hooks=None, timeout=timeout)

    def _open(self, ticket: int, intent: intents.OpenSession) -> None:
        mode, effort = mode_of(intent), as_str(intent.config.get("effort"))

        def applied(result: dict[str, Any], refusal: Refusal | None) -> None:
            confirmed = as_str(result.get("mode"))
            if refusal is not None and refusal.kind == "port_exit":
                self._opened(ticket, None, refusal)
            elif refusal is not None:
                self._cannot_open(
                    ticket, f"requested the approval mode {mode!r}: {refusal.message}"
                )
            elif confirmed != mode:
                applies = "nothing that it names" if confirmed is None else repr(confirmed)
                said = f"requested the approval mode {mode!r}, Qwen applies {applies}"
                self._cannot_open(ticket, said)
            elif effort is not None:
                settings = [("set_effort", {"effort": effort})]
                self._apply_settings(ticket, settings, lambda: self._is_open(ticket, intent, mode))
            else:
                self._is_open(ticket, intent, mode)

        self._channel.request("set_permission_mode", applied, mode=mode)

    def _cannot_open(self, ticket: int, why: str) -> None:
        self._opened(ticket, None, Refusal(kind="authority", message=why))

    def _is_open(self, ticket: int, intent: intents.OpenSession, mode: str) -> None:
        session_id = self._named or intent.resume or intent.session_id
        if session_id is None:
            self._refuse(ticket, "unsupported", "this release does not name its session")
            return
        self._session_id, self._granted = session_id, mode
        self._effort = as_str(intent.config.get("effort"))
        self._tools.open(session_id, intent.tools)
        facts = intents.SessionFacts(
            session_id=session_id,
            model=intent.model,
            cwd=intent.cwd,
            access=mode,
            sandbox=mode,
            resumed=intent.resume is not None and intent.fork is None,
            parent_session_id=intent.fork,
        )
        self._opened(ticket, facts, None)

    def _start_turn(self, ticket: int, intent: intents.StartTurn) -> None:
        if intent.output_schema is not None:
            raise Unsupported("a schema for one turn with Qwen")
        if intent.sandbox_policy is not None:
            raise Unsupported("a sandbox for one turn with Qwen")
        if intent.cwd is not None:
            raise Unsupported("another directory for one turn with Qwen")
        if intent.images:
            raise Unsupported("an image with Qwen")
        if not self._is_free(ticket):
            return
        settings: list[tuple[str, dict[str, Any]]] = []
        if intent.model is not None and intent.model != self._model:
            settings.append(("set_model", {"model": intent.model}))
        if intent.effort is not None and intent.effort != self._effort:
            settings.append(("set_effort", {"effort": intent.effort}))

        def prompt() -> None:
            self._model = intent.model or self._model
            self._effort = intent.effort or self._effort
            self._prompt(ticket, intent.text, [])

        self._apply_settings(ticket, settings, prompt)

    def _interrupt(self, ticket: int, turn_id: str) -> None:
        if self._turns.is_over(turn_id):
            self._answers.append(Answer(ticket))
        elif self._taken != turn_id:
            # There is nothing to stop yet: an interrupt would be lost.
            self._refuse(ticket, "response_error", f"turn {turn_id} has not started yet")
        else:
            self._channel.request("interrupt", self._done(ticket))

    def _decide(self, ticket: int, intent: intents.Decide) -> None:
        leaves_plan = self._approvals.tool_of(intent.approval_id) == _EXIT_PLAN
        refusal = self._approvals.decide(intent)
        if refusal is None and intent.decision == "cancel":
            self._channel.request("interrupt", ignore)
        elif refusal is None and leaves_plan and intent.decision != "deny":
            self._granted = widened(self._granted)
        self._answers.append(Answer(ticket, None, refusal))

    def _set_access(self, ticket: int, intent: intents.SetAccess) -> None:
        if intent.asking is not None or intent.access is None:
            raise Unsupported("changing when Qwen asks")
        mode = native_mode(intent.access)

        def facts(result: dict[str, Any]) -> intents.SessionFacts:
            self._granted = as_str(result.get("mode")) or mode
            return intents.SessionFacts(
                session_id=intent.session_id, access=self._granted, sandbox=self._granted
            )

        self._channel.request("set_permission_mode", self._done(ticket, facts), mode=mode)

    def _check_turn(self, ticket: int, turn_id: str | None) -> None:
        def outcome(result: dict[str, Any]) -> Outcome | None:
            return self._turns.outcome(turn_id)

        self._channel.request("mcp_server_status", self._done(ticket, outcome))

    def _models(self, result: dict[str, Any]) -> list[Model]:
        """The models that it lists, or else the one that it uses."""
        listed = [as_dict(each) for each in as_list(result.get("models"))]
        models = [
            Model(id=name, label=as_str(each.get("label")) or name, efforts=[*EFFORTS], native=each)
            for each in listed
            if (name := as_str(each.get("id")))
        ]
        if models or self._model is None:
            return models
        return [Model(id=self._model, label=self._model, efforts=[*EFFORTS], is_default=True)]
