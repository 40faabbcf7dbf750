"""How long we wait, and why a turn that says nothing is given up.

A turn is stalled when nothing was heard of it for too long, unless there is a good reason for the
silence: a tool that runs, a person who is asked. The decision is a pure function of what is known and
what time it is; the caller has the clock.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

Reason: TypeAlias = Literal["model", "tool", "person", "transport", "process"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """In seconds; ``None`` for no limit."""

    read: float = 30.0
    """For the answer to a request: the greeting, the opening of a session, a query."""
    turn: float | None = 3600.0
    """For a whole turn."""
    stall: float | None = 300.0
    """Between two signs of life of a turn."""
    interrupt: float = 2.0
    """For a turn to end after it was interrupted; then it is ended by us."""
    tools_may_stall: bool = True
    """A running tool counts as a sign of life."""
    people_may_stall: bool = True
    """A question that waits for an answer counts as a sign of life."""
    check_after: float = 10.0
    """Silence after which the server is asked whether the turn is over and its end got lost."""


class RunningTool(NamedTuple):
    """A tool call without a result."""

    name: str
    what: str
    """The command, or whatever says best what it does."""
    last_output: str = ""
    pids: tuple[int, ...] = ()


@dataclass(slots=True, kw_only=True)
class Pulse:
    """What is known of a running turn."""

    began_at: float
    heard_at: float
    """When anything of this turn was last heard, notices that it tries again left aside."""
    deaf: bool = False
    """The other side was asked how the turn is doing, and did not answer either."""
    trouble: str = ""
    """Why the agent tries again to reach the model, if that was the last that it said."""
    tools: list[RunningTool] = field(default_factory=list[RunningTool])
    asked: int = 0
    """Questions that wait for a person."""
    gone: bool = False
    """The process is gone."""


class Verdict(NamedTuple):
    """A turn is given up."""

    kind: Literal["turn_timeout", "stall_timeout"]
    reason: Reason
    text: str


def judge(pulse: Pulse, limits: Timeouts, now: float) -> Verdict | None:
    """Whether the turn is given up now, and why."""
    reason, text = explain(pulse)
    if limits.turn is not None and now - pulse.began_at >= limits.turn:
        return Verdict(
            "turn_timeout", reason, f"the turn took longer than {limits.turn:g} seconds: {text}"
        )
    if limits.stall is None or limits.stall <= 0 or now - pulse.heard_at < limits.stall:
        return None
    if reason == "tool" and limits.tools_may_stall:
        return None
    if reason == "person" and limits.people_may_stall:
        return None
    return Verdict("stall_timeout", reason, f"no activity for {limits.stall:g} seconds: {text}")


def explain(pulse: Pulse) -> tuple[Reason, str]:
    """What a turn is waiting for, as far as can be seen from here."""
    if pulse.gone:
        return "process", "the agent's process is gone"
    if pulse.asked:
        questions = "a question" if pulse.asked == 1 else f"{pulse.asked} questions"
        return "person", f"waiting for a person to answer {questions}"
    if pulse.tools:
        return "tool", "; ".join(_running(tool) for tool in pulse.tools)
    if pulse.deaf:
        return "transport", "the agent does not answer at all any more"
    if pulse.trouble:
        return "model", f"the model cannot be reached: {pulse.trouble}"
    return "model", "waiting for the model"


def _running(tool: RunningTool) -> str:
    pids = f" (pid {', '.join(map(str, tool.pids))})" if tool.pids else ""
    tail = tool.last_output.strip().rpartition("\n")[2][-200:]
    said = f", last output: {tail!r}" if tail else ", no output yet"
    return f"{tool.name} is running {tool.what!r}{pids}{said}"
