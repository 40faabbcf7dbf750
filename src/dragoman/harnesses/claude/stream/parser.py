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

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, TypeAlias

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.parsing import StreamParser
from dragoman.harnesses.claude.blocks import (
    Prompted,
    ResultFacts,
    is_interruption,
    prompt_of,
    report_assistant_block,
    report_result,
    results_in,
    without_results,
)
from dragoman.harnesses.claude.compaction import Compactions
from dragoman.harnesses.claude.failures import api_error
from dragoman.harnesses.claude.rate_limits import rate_windows
from dragoman.harnesses.claude.session import SYNTHETIC, ClaudeSession
from dragoman.harnesses.claude.stream import shapes
from dragoman.harnesses.claude.stream.control import Control
from dragoman.harnesses.claude.stream.mirror import Mirror
from dragoman.harnesses.claude.stream.partials import Partials
from dragoman.harnesses.claude.stream.prompts import PromptQueue
from dragoman.harnesses.claude.stream.results import StreamTurns
from dragoman.harnesses.claude.stream.sessions import Sessions
from dragoman.harnesses.claude.stream.system import end_agent, report_system
from dragoman.harnesses.claude.tools import output_text
from dragoman.harnesses.claude.usage import usage_of
from dragoman.harnesses.claude.values import local_output
from dragoman.harnesses.contract.reading import Ending
from dragoman.wire import jsonl
from dragoman.wire.directions import ASIDE, ERRORS, unwrap
from dragoman.wire.envelope import time_on
from dragoman.wire.loose import as_dict, as_list, as_str
from dragoman.wire.moments import as_time

CHANNEL: Final = "message"
_END_OF_INPUT: Final = b"<EOF>"


class StreamJsonParser(StreamParser):
    """One process of Claude Code, with its session and the sub-agents in it."""

    def __init__(self, *, only: frozenset[str] | None = None, audit: bool = False) -> None:
        super().__init__(only=only, audit=audit)
        self.sessions = Sessions(self._out)
        self.session: ClaudeSession = self.sessions.main
        """The session that the line being read belongs to."""
        self.prompts = PromptQueue(self._out)
        self.turns = StreamTurns(self.sessions, self.prompts)
        self.compactions = Compactions(self._out)
        self.control = Control(self.sessions)
        self.partials = Partials()
        self.permission_mode: str | None = None
        self.awaited_ends: dict[str, str] = {}
        """How sub-agents ended whose last notification is still to come."""
        self.sent: bool | None = None
        """Whether the host sends the lines to come; None if only the lines themselves can say."""
        self.is_sent = False
        """Whether the host sent the line being read."""
        self._mirror = Mirror(self.sessions, self.prompts)

    def receive_time(self, at: datetime) -> None:
        """The lines to come arrive at this time."""
        self._out.at = at

    def _read(self, line: bytes) -> None:
        sent, way = self.sent, ""
        if sent is None:
            if (at := time_on(line)) is not None:
                self._out.at = at
            line, sent, way = unwrap(line)
        self.session = self.sessions.main
        if way in ASIDE:
            self.session.assembler.duplicate("journal: how it was recorded")
        elif way in ERRORS:
            text = line.decode(errors="replace").strip()
            self.session.assembler.notice("stderr", "warning", text)
        elif sent and line.strip() == _END_OF_INPUT:
            self.session.assembler.duplicate("journal: the end of the input")
        elif way:
            self._unwrapped(line, sent)
        else:
            self._report(shapes.decode_line(line), line, sent)

    def _unwrapped(self, line: bytes, sent: bool | None) -> None:
        """A line out of a journal: what cannot be read is kept without its wrapper."""
        try:
            row = shapes.decode_line(line)
        except jsonl.UNREADABLE:
            self._keep_inner(line)
        else:
            self._report(row, line, sent)

    def _keep_inner(self, line: bytes) -> None:
        try:
            value = jsonl.loads(line)
        except jsonl.NotJson:
            self._malformed(line)
        else:
            self._odd(line, value)

    def _report(self, row: shapes.AnyLine, line: bytes, sent: bool | None) -> None:
        if (at := as_time(row.timestamp)) is not None:
            self._out.at = at
        self.is_sent = sent is True
        if not self.is_sent:
            self.name_session(as_str(row.session_id))
            self.session = self._session_of(row)
        if type(row) is not shapes.User:
            self.compactions.flush()
        if _REPORT[type(row)](self, row) is False:
            self._unknown(line, _native_type(row))

    def _session_of(self, row: shapes.AnyLine) -> ClaudeSession:
        agent_id, call_id = as_str(row.agent_id), as_str(row.parent_tool_use_id)
        if agent_id is None and call_id is None:
            return self.sessions.main
        if type(row) in (shapes.Assistant, shapes.User, shapes.StreamEvent):
            return self.sessions.agent(agent_id, call_id)
        named = self.sessions.known_agent(agent_id) or self.sessions.agent_of_call(call_id or "")
        return named or self.sessions.main

    def name_session(self, session_id: str | None, *, is_init: bool = False) -> None:
        """Take note of the stream's own session."""
        main = self.sessions.main
        if session_id is None or session_id == main.session_id:
            return
        if main.session_id is None:
            main.assembler.session_id = session_id
        elif is_init:
            self.sessions.switch(session_id)
            self.session = self.sessions.main

    def _say_held(self) -> None:
        pass  # a prompt that waits, and a boundary without its summary, may be resolved by the next line

    def _finish(self, ending: Ending) -> None:
        self.compactions.flush()
        main = self.sessions.main
        self.prompts.flush(main, self.turns.last_turn)
        for name, status in list(self.awaited_ends.items()):
            end_agent(self, name, status, "")
        main.spending.settle_all_parked()
        for session in self.sessions.all():
            session.close_turn()

    def _speaker(self) -> SessionAssembler:
        return self.session.assembler

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

    def control_request(self, row: shapes.ControlRequest) -> bool:
        request = as_dict(row.request)
        request_id = as_str(row.request_id) or ""
        if self.is_sent:
            self.control.host_asks(request)
            return True
        return self.control.agent_asks(request_id, request)

    def control_response(self, row: shapes.ControlResponse) -> None:
        response = as_dict(row.response)
        if self.is_sent:
            self.control.host_answers(response)
        else:
            self.control.agent_answers(response)

    def control_cancel(self, row: shapes.ControlCancelRequest) -> None:
        self.control.cancelled(as_str(row.request_id) or "")

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

    def state(self, row: shapes.StreamLine) -> None:
        self.session.assembler.duplicate("state: of the connection")


def _native_type(row: shapes.AnyLine) -> str:
    """The best name for a line that is new to us."""
    if isinstance(row, shapes.System):
        return f"system/{row.subtype}"
    if isinstance(row, shapes.StreamEvent):
        return f"stream_event/{as_dict(row.event).get('type')}"
    if isinstance(row, shapes.ControlRequest):
        return f"control_request/{as_dict(row.request).get('subtype')}"
    if isinstance(row, shapes.Assistant):
        kinds = [str(as_dict(each).get("type")) for each in as_list(row.message.content)]
        return f"assistant/{','.join(kinds)}"
    return type(row).__name__


_Report: TypeAlias = Callable[[StreamJsonParser, Any], bool | None]
_REPORT: Final[dict[type[shapes.StreamLine], _Report]] = {
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
