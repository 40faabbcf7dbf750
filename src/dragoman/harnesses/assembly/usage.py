"""Emit what a session costs: tokens, and what the agent itself reports."""

from __future__ import annotations

from dragoman.harnesses.assembly.output import SessionOutput
from dragoman.harnesses.assembly.tokens import TokenCounter
from dragoman.model.messages import UsageReport
from dragoman.model.usage import Usage


class SessionUsage:
    """The tokens of one session, each report once."""

    __slots__ = ("_cost", "_out", "context_window", "counter", "is_resumed", "knows_total")

    def __init__(self, out: SessionOutput) -> None:
        self._out = out
        self.counter = TokenCounter()
        self.context_window: int | None = None
        self.is_resumed = False
        """Whether the session began before this stream, so that its first total is an old one."""
        self.knows_total = True
        """Whether what was counted is all that the session has spent; otherwise no total is reported."""
        self._cost: float | None = None

    def report(
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
        """Tokens: the session's running total and those of the newest response, as far as reported.

        ``cost`` is what the agent itself reports for the session so far.
        """
        if window is None:
            window = self.context_window
        else:
            self.context_window = window
        if self.is_resumed and self.counter.total is None and not self._out.agent_spoke:
            old = True
        is_new = self.counter.count(total, last, old=old)
        if cost is not None and cost != self._cost:
            self._cost = cost
            is_new = True
        if not is_new:
            self._out.duplicate("usage: unchanged")
            return
        self._emit(last, window, response_id, model, cost)

    def record(self, total: Usage | None, own: Usage, *, response_id: str | None = None) -> None:
        """The tokens of one response, in a record of its own that is never repeated."""
        self.counter.record(total, own)
        self._emit(own, self.context_window, response_id)

    def _emit(
        self,
        last: Usage | None,
        window: int | None,
        response_id: str | None,
        model: str | None = None,
        cost: float | None = None,
    ) -> None:
        session = self._out
        out = session.stream
        out.messages.append(
            UsageReport(
                session_id=session.session_id,
                turn_id=session.turn_id,
                at=out.at,
                line=out.line,
                total=self.counter.total if self.knows_total else None,
                last=last,
                context_window=window,
                response_id=response_id,
                model=model,
                cost=cost,
            )
        )

    def start(self) -> None:
        """The harness has counted nothing yet: the next total is entirely this session's own."""
        self.counter.start()
        self._out.duplicate("usage: nothing counted yet")
