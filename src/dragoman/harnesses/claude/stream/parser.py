"""Reading the stream of ``claude -p --output-format stream-json``.

| line | becomes |
|---|---|
| system/init | session_started if something is new; the beginning of a turn |
| assistant, one for each content block | text, thinking, tool_call; an API error is kept for the turn's end |
| user | tool_result; prompt, if it is one that the host sent; context; what a compaction left |
| stream_event | delta, and the tokens of a response |
| system | see :mod:`dragoman.harnesses.claude.stream.system` |
| result | turn_ended, what the turn took, what the session has cost |
| control_request, control_response | approval_requested, approval_settled |
| transcript_mirror | what its rows say and no line of the stream does |

Lines that name a sub-agent are emitted under its own session.
"""

from __future__ import annotations

from typing import Any, Final

from dragoman.harnesses.claude import questions
from dragoman.harnesses.claude.blocks import (
    ResultFacts,
    is_interruption,
    report_assistant_block,
    report_result,
)
from dragoman.harnesses.claude.compaction import Compactions
from dragoman.harnesses.claude.failures import api_error
from dragoman.harnesses.claude.rate_limits import rate_windows
from dragoman.harnesses.claude.session import SYNTHETIC, ClaudeSession
from dragoman.harnesses.claude.stream import shapes
from dragoman.harnesses.claude.stream.mirror import Mirror
from dragoman.harnesses.claude.stream.partials import ClaudePartials
from dragoman.harnesses.claude.stream.results import StreamTurns
from dragoman.harnesses.claude.stream.system import end_agent, report_system
from dragoman.harnesses.claude.tools import output_text
from dragoman.harnesses.claude.usage import usage_of
from dragoman.harnesses.claude.values import local_output
from dragoman.harnesses.contract.reading import Ending
from dragoman.harnesses.stream_json.blocks import (
    Prompted,
    prompt_of,
    results_in,
    without_results,
)
from dragoman.harnesses.stream_json.reader import StreamJsonReader
from dragoman.wire.loose import as_dict, as_list, as_str

CHANNEL: Final = "message"


class StreamJsonParser(StreamJsonReader[ClaudeSession]):
    """One process of Claude Code, with its session and the sub-agents in it."""

    decode = staticmethod(shapes.decode_line)
    attributed = (shapes.Assistant, shapes.User, shapes.StreamEvent)

    def __init__(self, *, only: frozenset[str] | None = None, audit: bool = False) -> None:
        super().__init__(ClaudeSession, questions, only=only, audit=audit)
        self.turns = StreamTurns(self.sessions, self.prompts)
        self.compactions = Compactions(self._out)
        self.partials = ClaudePartials()
        self.permission_mode: str | None = None
        self.awaited_ends: dict[str, str] = {}
        """How sub-agents ended whose last notification is still to come."""
        self._mirror = Mirror(self.sessions, self.prompts)

    def begin_turn(self) -> None:
        self.turns.begin()

    def resolve(self, row: shapes.AnyLine) -> None:
        if type(row) is not shapes.User:
            self.compactions.flush()
        self.is_holding = self.compactions.is_held

    def _finish(self, ending: Ending) -> None:
        self.compactions.flush()
        main = self.sessions.main
        self.prompts.flush(main, self.turns.last_turn)
        for name, status in list(self.awaited_ends.items()):
            end_agent(self, name, status, "")
        main.spending.settle_all_parked()
        super()._finish(ending)

    # One method for each kind of line.

    def system(self, row: shapes.System) -> bool:
        return report_system(self, row)

    def assistant(self, row: shapes.Assistant) -> bool:
        session, message = self.session, row.message
        model = as_str(message.model)
        response_id = as_str(message.id)
        blocks = [as_dict(each) for each in as_list(message.content)]
        if row.is_api_error_message is True or (row.error is not None and model == SYNTHETIC):
            text = output_text(message.content)
            session.ensure_turn()
            session.has_failed = True
            session.assembler.fail_turn(
                api_error(text, row.error, row.api_error_status, row.api_error_type, row.api_error)
            )
            return True
        if (source := as_str(row.local_command_source)) is not None:
            output = local_output(source)
            session.assembler.notice(CHANNEL, "info", source if output is None else output)
            return True
        if model is not None and model != SYNTHETIC and session is not self.sessions.main:
            session.assembler.begin_session(model=model)
        if session is self.sessions.main:
            self.turns.go_on()
            usage = usage_of(message.usage)
            reason = as_str(message.stop_reason)
            session.spending.see(response_id, usage, model, is_final=reason is not None)
        known = [
            report_assistant_block(session, CHANNEL, response_id, block, None) for block in blocks
        ]
        for block in blocks:
            if session is self.sessions.main and block.get("type") == "text":
                self.turns.last_text = as_str(block.get("text")) or self.turns.last_text
        if not blocks:
            session.assembler.duplicate("message: it has no content")
        return all(known)

    def user(self, row: shapes.User) -> None:
        content = row.message.content
        if self.is_sent:
            self.prompts.send(self.sessions.main, prompt_of(content), as_str(row.uuid))
            return
        facts = ResultFacts(
            row.tool_use_result,
            {
                str(meta.get("id")): meta.get("non_execution_kind")
                for meta in map(as_dict, as_list(row.tool_result_meta))
            },
            {
                str(meta.get("id")): meta.get("permission_decision")
                for meta in map(as_dict, as_list(row.tool_result_meta))
            },
        )
        results = list(results_in(content))
        for block in results:
            self._result(block, facts)
        rest = without_results(content) if results else content
        if rest or not results:
            self._words(row, prompt_of(rest))

    def _result(self, block: dict[str, Any], facts: ResultFacts) -> None:
        call_id = as_str(block.get("tool_use_id")) or ""
        decision = as_dict(facts.decisions.get(call_id)).get("decision")
        denied = facts.denials.get(call_id) is not None or decision == "reject"
        self.control.call_ended(call_id, was_denied=denied)
        report_result(self.session, block, facts)
        details = as_dict(facts.details)
        agent = self.sessions.agent_of_call(call_id)
        if agent is not None and details.get("status") == "completed":
            end_agent(self, agent.session_id, "completed", output_text(details.get("content")))

    def _words(self, row: shapes.User, said: Prompted) -> None:
        """What a user's message says that the agent printed itself."""
        session, assembler = self.session, self.session.assembler
        if is_interruption(said.text):
            session.was_interrupted = True
            assembler.duplicate("interruption: the turn's end carries it")
        elif self.compactions.summary(said.text):
            pass
        elif (output := local_output(said.text)) is not None:
            assembler.notice(CHANNEL, "info", output)
        elif row.isSynthetic is True:
            assembler.context("user", said.text)
        elif session is not self.sessions.main:
            session.ensure_turn()
            assembler.prompt(CHANNEL, said.text, said.images)
        else:
            self.prompts.echo(session, said)

    def stream_event(self, row: shapes.StreamEvent) -> bool:
        event = as_dict(row.event)
        if self.session is self.sessions.main and event.get("type") == "message_start":
            self.turns.go_on()
        return self.partials.report(self.session, event)

    def result(self, row: shapes.Result) -> None:
        self.turns.end(row)

    def command_lifecycle(self, row: shapes.CommandLifecycle) -> None:
        uuid, state = as_str(row.command_uuid) or "", as_str(row.state)
        if state == "started":
            self.prompts.take(self.sessions.main, uuid)
        elif state == "queued":
            self.prompts.report(uuid)
        elif state in ("cancelled", "failed"):
            self.prompts.cancel(uuid)
        self.session.assembler.duplicate(f"prompt: {state or 'its state'}")

    def rate_limit(self, row: shapes.RateLimitEvent) -> None:
        self.session.assembler.rate_limits(rate_windows(row.rate_limit_info))

    def tool_use_summary(self, row: shapes.ToolUseSummary) -> None:
        self.session.assembler.notice(CHANNEL, "info", as_str(row.summary) or "")

    def auth_status(self, row: shapes.AuthStatus) -> None:
        if (error := as_str(row.error)) is not None:
            self.session.assembler.notice(CHANNEL, "error", error)
        else:
            self.session.assembler.duplicate("state: signing in")

    def mirror(self, row: shapes.TranscriptMirror) -> None:
        for entry in row.entries:
            self._mirror.report(bytes(entry))
        self.session.assembler.duplicate("mirror: the rows of the transcript")


StreamJsonParser.reports = {
    shapes.System: StreamJsonParser.system,
    shapes.Assistant: StreamJsonParser.assistant,
    shapes.User: StreamJsonParser.user,
    shapes.StreamEvent: StreamJsonParser.stream_event,
    shapes.Result: StreamJsonParser.result,
    shapes.ControlRequest: StreamJsonParser.control_request,
    shapes.ControlResponse: StreamJsonParser.control_response,
    shapes.ControlCancelRequest: StreamJsonParser.control_cancel,
    shapes.CommandLifecycle: StreamJsonParser.command_lifecycle,
    shapes.TranscriptMirror: StreamJsonParser.mirror,
    shapes.RateLimitEvent: StreamJsonParser.rate_limit,
    shapes.ToolUseSummary: StreamJsonParser.tool_use_summary,
    shapes.AuthStatus: StreamJsonParser.auth_status,
    shapes.ToolProgress: StreamJsonParser.state,
    shapes.KeepAlive: StreamJsonParser.state,
    shapes.PromptSuggestion: StreamJsonParser.state,
    shapes.UpdateEnvironment: StreamJsonParser.state,
}
