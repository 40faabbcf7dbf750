"""Reading the stream of ``qwen -o stream-json``.

| line | becomes |
|---|---|
| system/init | session_started if something is new; the beginning of a turn |
| assistant, one for each part of a response | text, thinking, tool_call; the tokens of the response, on its last line |
| user | tool_result; the prompt of a sub-agent; notice; prompt, if it is one that the host sent |
| stream_event | delta |
| system | see :mod:`dragoman.harnesses.qwen.stream.system` |
| result | turn_ended; of a sub-agent that failed, the end of its turn |
| control_request, control_response | approval_requested, approval_settled |

The counts of a ``result`` are those of the whole session, with its sub-agents, what it had cost before it was resumed and
what the program asks its model in the background. So a turn's tokens are counted from its responses alone.
"""

from __future__ import annotations

from typing import Any, Final

from dragoman.harnesses.contract.reading import Ending
from dragoman.harnesses.qwen import questions
from dragoman.harnesses.qwen.failures import CANCELLED, request_error, taken_apart, turn_error
from dragoman.harnesses.qwen.session import QwenSession
from dragoman.harnesses.qwen.stream import shapes
from dragoman.harnesses.qwen.stream.partials import QwenPartials
from dragoman.harnesses.qwen.stream.system import end_agent, report_system
from dragoman.harnesses.qwen.tools import result_of, starts_in_background
from dragoman.harnesses.qwen.usage import streamed_usage
from dragoman.harnesses.stream_json.blocks import prompt_of, results_in, without_results
from dragoman.harnesses.stream_json.reader import StreamJsonReader
from dragoman.wire.loose import as_dict, as_list, as_str

CHANNEL: Final = "message"
_AGENT_CANCELLED: Final = "Agent was cancelled by the user."


class QwenStreamParser(StreamJsonReader[QwenSession]):
    """One process of Qwen Code, with its session and the sub-agents in it."""

    decode = staticmethod(shapes.decode_line)
    attributed = (shapes.Assistant, shapes.User, shapes.StreamEvent)

    def __init__(self, *, only: frozenset[str] | None = None, audit: bool = False) -> None:
        super().__init__(QwenSession, questions, only=only, audit=audit)
        self.partials = QwenPartials()
        self.permission_mode: str | None = None
        self._last_turn: str | None = None

    def begin_turn(self) -> None:
        self.prompts.begin_turn(self.sessions.main)
        self._last_turn = self.sessions.main.assembler.open_turn

    def _session_of(self, row: Any) -> QwenSession:
        call_id = as_str(row.parent_tool_use_id)
        if call_id is None or type(row) not in self.attributed:
            return self.sessions.main
        owner = self.sessions.owner(call_id)
        return self.sessions.agent(owner.agents.get(call_id), call_id)

    def _finish(self, ending: Ending) -> None:
        self.prompts.flush(self.sessions.main, self._last_turn)
        super()._finish(ending)

    def _go_on(self) -> None:
        """The agent works: if its ``init`` was not seen, a turn begins here."""
        if self.session is self.sessions.main and not self.session.assembler.in_turn:
            self.begin_turn()
        self.prompts.is_fresh = False

    # One method for each kind of line.

    def system(self, row: shapes.System) -> bool:
        return report_system(self, row)

    def assistant(self, row: shapes.Assistant) -> bool:
        session, message = self.session, row.message
        name, model = as_str(message.id) or f"message-{self._out.line}", as_str(message.model)
        usage = streamed_usage(message.usage)
        self._go_on()
        if session is not self.sessions.main and model is not None:
            session.assembler.begin_session(model=model)
        blocks = [as_dict(each) for each in as_list(message.content)]
        known = [
            self._block(block, f"{name}/{place}", may_fail=not usage)
            for place, block in enumerate(blocks)
        ]
        session.spend(name, usage, model)
        if not blocks:
            session.assembler.duplicate("message: it has no content")
        return all(known)

    def _block(self, block: dict[str, Any], item_id: str, *, may_fail: bool) -> bool:
        session, assembler = self.session, self.session.assembler
        session.ensure_turn()
        match block.get("type"):
            case "text":
                said, error, hint = as_str(block.get("text")) or "", None, None
                if may_fail:
                    said, error, hint = taken_apart(said)
                name = self.partials.name_of_text(session)
                if said or error is None:
                    assembler.text(CHANNEL, said, message_id=name, item_id=item_id)
                if error is not None:
                    session.fail(request_error(error, details=hint))
            case "thinking":
                assembler.thinking(CHANNEL, [as_str(block.get("thinking")) or ""], item_id)
            case "tool_use":
                call_id, native = as_str(block.get("id")) or "", as_str(block.get("name")) or ""
                session.call(call_id, native, as_dict(block.get("input")))
            case _:
                return False
        return True

    def user(self, row: shapes.User) -> None:
        content = row.message.content
        if self.is_sent:
            self.prompts.send(self.sessions.main, prompt_of(content), as_str(row.uuid))
            return
        results = list(results_in(content))
        for block in results:
            self._result(block)
        rest = without_results(content) if results else content
        if rest or not results:
            self._words(prompt_of(rest).text)

    def _result(self, block: dict[str, Any]) -> None:
        session = self.session
        call_id, text = as_str(block.get("tool_use_id")) or "", as_str(block.get("content")) or ""
        result = result_of(session.tool_of(call_id), text, is_error=block.get("is_error") is True)
        self.control.call_ended(call_id, was_denied=result.status == "declined")
        session.result(call_id, result)
        agent = self.sessions.agent_of_call(call_id)
        if agent is None or not agent.assembler.in_turn or starts_in_background(text):
            return
        stopped = result.is_error or text.startswith(_AGENT_CANCELLED)
        end_agent(agent, "cancelled" if stopped else "completed", "" if stopped else text)

    def _words(self, text: str) -> None:
        """What the program itself puts as a user's message: a sub-agent's prompt, or what has happened meanwhile."""
        session = self.session
        if session is self.sessions.main:
            session.assembler.notice(CHANNEL, "info", text)
        elif session.assembler.in_turn:
            session.assembler.context("user", text)
        else:
            session.begin_turn()
            session.assembler.prompt(CHANNEL, text)

    def stream_event(self, row: shapes.StreamEvent) -> bool:
        event = as_dict(row.event)
        if event.get("type") == "message_start":
            self._go_on()
        self.partials.line = as_str(row.uuid)
        return self.partials.report(self.session, event)

    def result(self, row: shapes.Result) -> None:
        message = as_str(as_dict(row.error).get("message")) or ""
        agent = self._failed_agent(row)
        if agent is not None:
            end_agent(agent, "cancelled" if message == "CANCELLED" else "failed", message)
            return
        main = self.sessions.main
        if not main.assembler.in_turn:
            self.begin_turn()
        self.prompts.is_fresh = False
        for session in self.sessions.all()[1:]:
            session.close_turn()
        if row.is_error is not True:
            if (text := as_str(row.result)) and not main.assembler.turn_has_text:
                main.assembler.text(CHANNEL, text)
            main.end_turn("completed")
        elif message == CANCELLED:
            main.was_interrupted = True
            main.end_turn("interrupted")
        else:
            main.end_turn("failed", None if main.has_failed else turn_error(message))

    def _failed_agent(self, row: shapes.Result) -> QwenSession | None:
        """The sub-agent that a result is about: such a one has no times and counts, and its call is still open."""
        if row.is_error is not True or has_counts(row.duration_ms, row.usage):
            return None
        return next(
            (agent for agent in reversed(self.sessions.all()[1:]) if agent.assembler.in_turn), None
        )


def has_counts(duration_ms: Any, usage: Any) -> bool:
    """Whether a result has times or counts: one about a sub-agent has none."""
    return duration_ms != 0 or "cache_read_input_tokens" in as_dict(usage)


QwenStreamParser.reports = {
    shapes.System: QwenStreamParser.system,
    shapes.Assistant: QwenStreamParser.assistant,
    shapes.User: QwenStreamParser.user,
    shapes.StreamEvent: QwenStreamParser.stream_event,
    shapes.Result: QwenStreamParser.result,
    shapes.ControlRequest: QwenStreamParser.control_request,
    shapes.ControlResponse: QwenStreamParser.control_response,
    shapes.ControlCancelRequest: QwenStreamParser.control_cancel,
    shapes.KeepAlive: QwenStreamParser.state,
}
