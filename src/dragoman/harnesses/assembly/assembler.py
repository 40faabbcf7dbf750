"""The teller: one session, from the first line that mentions it to the last.

Each method is one kind of thing that a line can say. It either appends a message to the output or
notes the line as a twin. What may come over several channels takes the channel's name. The methods
that most lines of a long session end in spell their message out: that is quicker than ``_say``.

A teller is made of three layers: the life of the session (``turns``), what is said in it
(``words``), and here what is done, asked and spent.
"""

from __future__ import annotations

from typing import Any

from dragoman.harnesses.assembly.content import Words
from dragoman.harnesses.assembly.output import Output
from dragoman.model.messages import (
    AlwaysAllow,
    ApprovalKind,
    ApprovalRequested,
    ApprovalSettled,
    Compacted,
    Diff,
    Level,
    Notice,
    Plan,
    PlanStep,
    RateLimits,
    RateWindow,
    ResultStatus,
    ToolCall,
    ToolResult,
    UsageReport,
)
from dragoman.model.usage import Usage


class Teller(Words):
    """One session being told."""

    def __init__(self, out: Output, harness: str, session_id: str | None = None) -> None:
        super().__init__(out, harness, session_id)
        self.context_window: int | None = None
        self._approvals: dict[str, bool] = {}
        self._plan: tuple[list[PlanStep], str | None] | None = None
        self._windows: list[RateWindow] = []
        self._cost: float | None = None
        self.is_resumed = False
        """Whether the session began before this stream, so that its first total is an old one."""

    def call(self, call_id: str, tool: str, native_tool: str, input: dict[str, Any]) -> None:
        if not self.calls.opens(call_id):
            self._out.twin("tool call: told before")
            return
        if not self.in_turn:
            self._ensure_turn()
        self._text_was_last = False
        self.agent_spoke = True
        self._inputs[call_id] = input
        out = self._out
        out.messages.append(
            ToolCall(
                session_id=self.session_id,
                turn_id=self.turn_id,
                at=out.at,
                line=out.line,
                call_id=call_id,
                tool=tool,
                native_tool=native_tool,
                input=input,
            )
        )

    def input_of(self, call_id: str) -> dict[str, Any]:
        """What a call that is still open was given."""
        return self._inputs.get(call_id, {})

    def keep_native(self, call_id: str, **facts: Any) -> None:
        """How the harness itself put an open call: an approval must show it unchanged."""
        self._natives[call_id] = facts

    def native_of(self, call_id: str) -> dict[str, Any]:
        return self._natives.get(call_id, {})

    def result(
        self,
        call_id: str,
        output: str = "",
        *,
        is_error: bool = False,
        exit_code: int | None = None,
        duration_ms: int | None = None,
        status: ResultStatus | None = None,
    ) -> None:
        if not (self.calls.abandons if status == "abandoned" else self.calls.closes)(call_id):
            self._out.twin("tool result: told before")
            return
        if self._partial:
            streamed = self._partial.pop(call_id, ())
            output = output or "".join(streamed)
        self._inputs.pop(call_id, None)
        self._natives.pop(call_id, None)
        out = self._out
        out.messages.append(
            ToolResult(
                session_id=self.session_id,
                turn_id=self.turn_id,
                at=out.at,
                line=out.line,
                call_id=call_id,
                output=output,
                is_error=is_error,
                exit_code=exit_code,
                duration_ms=duration_ms,
                status=status or ("failed" if is_error else "completed"),
            )
        )

    def plan(self, steps: list[PlanStep], explanation: str | None = None) -> None:
        if (steps, explanation) == self._plan:
            self._out.twin("plan: unchanged")
            return
        self._plan = (steps, explanation)
        self._ensure_turn()
        self._say(Plan, steps=steps, explanation=explanation)

    def diff(self, unified: str) -> None:
        if unified == self._diff or (not unified and self._diff is None):
            self._out.twin("diff: unchanged")
            return
        self._diff = unified
        self._say(Diff, unified=unified)

    # What it costs.

    def usage(
        self,
        total: Usage | None,
        last: Usage | None,
        window: int | None = None,
        *,
        old: bool = False,
        response_id: str | None = None,
        model: str | None = None,
        cost: float | None = None,
    ) -> None:
        """Tokens: the session's running total and the newest response's own, as far as told."""
        if window is None:
            window = self.context_window
        else:
            self.context_window = window
        if self.is_resumed and self._tally.total is None and not self.agent_spoke:
            old = True
        if not self._tally.count(total, last, old=old):
            self._out.twin("usage: unchanged")
            return
        self._say_usage(last, window, response_id, model, cost)

    def cost(self, dollars: float) -> None:
        """What the session has cost so far, as the agent itself reports it."""
        if dollars == self._cost:
            self._out.twin("cost: unchanged")
            return
        self._cost = dollars
        self._say_usage(None, self.context_window, cost=dollars)

    def usage_record(self, total: Usage | None, own: Usage) -> None:
        """The tokens of one response, in a record of its own, never repeated."""
        self._tally.record(total, own)
        self._say_usage(own, self.context_window)

    def _say_usage(
        self,
        last: Usage | None,
        window: int | None,
        response_id: str | None = None,
        model: str | None = None,
        cost: float | None = None,
    ) -> None:
        out = self._out
        out.messages.append(
            UsageReport(
                session_id=self.session_id,
                turn_id=self.turn_id,
                at=out.at,
                line=out.line,
                total=self._tally.total,
                last=last,
                context_window=window,
                response_id=response_id,
                model=model,
                cost=cost,
            )
        )

    def usage_starts(self) -> None:
        """The harness has counted nothing yet: whatever total comes next is this session's own."""
        self._tally.starts()
        self._out.twin("usage: nothing counted yet")

    def rate_limits(self, windows: list[RateWindow]) -> None:
        if windows == self._windows:
            self._out.twin("rate limits: unchanged")
            return
        self._windows = windows
        self._say(RateLimits, windows=windows)

    # Questions, and words from the harness itself.

    def ask(
        self,
        approval_id: str,
        kind: ApprovalKind,
        *,
        tool: str | None,
        summary: str,
        detail: dict[str, Any],
        choices: list[str],
        command: str | None = None,
        argv: list[str] | None = None,
        shell: str | None = None,
        cwd: str | None = None,
        always: AlwaysAllow | None = None,
        form: dict[str, Any] | None = None,
        url: str | None = None,
    ) -> None:
        if approval_id in self._approvals:
            self._out.twin("approval: asked before")
            return
        self._approvals[approval_id] = True
        self._say(
            ApprovalRequested,
            approval_id=approval_id,
            kind=kind,
            tool=tool,
            summary=summary,
            detail=detail,
            choices=choices,
            command=command,
            argv=argv,
            shell=shell,
            cwd=cwd,
            always=always,
            form=form,
            url=url,
        )

    def has_asked(self, approval_id: str) -> bool:
        return approval_id in self._approvals

    def open_approval(self) -> str | None:
        """The oldest question that is still open."""
        return next((name for name, is_open in self._approvals.items() if is_open), None)

    def settle(self, approval_id: str, decision: str) -> None:
        if not self._approvals.get(approval_id, True):
            self._out.twin("approval: settled before")
            return
        self._approvals[approval_id] = False
        self._say(ApprovalSettled, approval_id=approval_id, decision=decision)

    def notice(
        self,
        channel: str,
        level: Level,
        text: str,
        *,
        will_retry: bool = False,
        undone_turns: int = 0,
    ) -> None:
        if not self._notices.is_new(channel, text):
            self._out.twin("notice: told before")
            return
        self._say(Notice, level=level, text=text, will_retry=will_retry, undone_turns=undone_turns)

    def compacted(self, channel: str, summary: str | None = None) -> None:
        if not self._compactions.is_new(channel, ""):
            self._out.twin("compaction: told before")
            return
        self._say(Compacted, summary=summary)
