"""One session, or one sub-agent, as far as it has been read: what both dialects report to."""

from __future__ import annotations

from typing import Any, Final

from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.gemini_tools.calls import CallReports
from dragoman.harnesses.gemini_tools.results import CallResult
from dragoman.harnesses.qwen.tools import UnwrappedCall, agent_name, unwrapped_call
from dragoman.harnesses.stream_json.session import StreamSession
from dragoman.model.messages import TurnError
from dragoman.model.usage import Usage

HARNESS: Final = "qwen"


class QwenSession(StreamSession):
    """One session being read."""

    def __init__(self, out: Output, session_id: str | None) -> None:
        super().__init__(out, HARNESS, session_id)
        self._calls = CallReports(self.assembler)
        self.agents: dict[str, str] = {}
        """The sub-agent that each call starts."""

    @property
    def has_finished(self) -> bool:
        """Whether the open turn has come to its end, judging by what was said in it."""
        if self.assembler.calls.any_open():
            return False
        is_answered = not self.assembler.says_ends and self.assembler.turns.text_was_last
        return self.has_failed or is_answered

    def call(self, call_id: str, native: str, given: dict[str, Any]) -> UnwrappedCall:
        """Report a call; what it is without its wrapper."""
        call = unwrapped_call(native, given)
        if (name := agent_name(call_id, call)) is not None:
            self.agents[call_id] = name
        self.ensure_turn()
        self._calls.call(call_id, call.tool, call.input)
        return call

    def tool_of(self, call_id: str) -> str:
        """The tool of a call without a result, by the name that messages use."""
        return self._calls.tool_of(call_id) or ""

    def result(self, call_id: str, result: CallResult, duration_ms: int | None = None) -> None:
        self._calls.result(call_id, result, duration_ms)

    def spend(self, response_id: str, usage: Usage | None, model: str | None) -> None:
        """What a response has cost. One that was cut off has no counts."""
        if usage:
            self.assembler.usage(None, usage, response_id=response_id, model=model)

    def fail(self, error: TurnError) -> None:
        """A request has failed for good: the turn will, too."""
        self.ensure_turn()
        self.has_failed = True
        self.assembler.fail_turn(error)
