"""What the page has to remember of each session that it shows, and of the page as a whole."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from dragoman.export.base import Options
from dragoman.export.html.flow import Group, Slot
from dragoman.export.html.page import when
from dragoman.model.messages import ApprovalRequested, SessionStarted, ToolCall, UsageReport
from dragoman.model.usage import NOTHING, Usage
from dragoman.rendering import render
from dragoman.rendering.calls import CallIndex

_MOST_FILES: Final = 10_000


@dataclass(slots=True)
class Held:
    """A card that waits for the other half of what it shows."""

    slot: Slot
    anchor: str


@dataclass(slots=True)
class SessionSummary:
    session_id: str | None
    parent: SessionSummary | None = None
    """The session whose sub-agent it is, if it is one."""
    started: SessionStarted | None = None
    number: int = 0
    """The number of its newest turn: on the page, or, of a sub-agent, among its own."""
    in_turn: bool = False
    announced: bool = False
    """Whether the turn under way has had its ``turn_started``."""
    has_section: bool = False
    turn_at: datetime | None = None
    group: Group | None = None
    """Where a sub-agent's words go while its turn is under way."""
    calls: CallIndex = field(default_factory=CallIndex)
    cards: dict[str, Held] = field(default_factory=dict[str, Held])
    approvals: dict[str, tuple[Held, ApprovalRequested]] = field(
        default_factory=dict[str, tuple[Held, ApprovalRequested]]
    )
    diff: str = ""
    delegates: bool = False
    told: Usage | None = None
    """The newest total that was told."""
    summed: Usage = NOTHING
    context_window: int | None = None
    context_used: int | None = None

    @property
    def spent(self) -> Usage:
        return self.told or self.summed

    @property
    def title(self) -> str:
        facts = render.session(self.started)[1:] if self.started else []
        return " · ".join([*facts[:1], *([self.session_id] if self.session_id else [])])

    def report(self, message: UsageReport) -> None:
        self.told = message.total or self.told
        self.context_window = message.context_window or self.context_window
        if message.last:
            self.context_used = message.last.input_tokens + message.last.output_tokens


@dataclass(slots=True)
class Sums:
    """What the page counts as it goes."""

    commands: int = 0
    failed: int = 0
    tools: int = 0
    agents: int = 0
    files: set[str] = field(default_factory=set[str])
    first_at: datetime | None = None
    last_at: datetime | None = None

    def saw(self, at: datetime | None) -> None:
        if at is not None:
            self.first_at = min(at, self.first_at or at)
            self.last_at = max(at, self.last_at or at)

    def called(self, call: ToolCall) -> None:
        if render.command(call) is not None:
            self.commands += 1
        elif files := render.changes(call):
            if len(self.files) < _MOST_FILES:
                self.files.update(each.path for each in files)
        elif not render.steps(call):
            self.tools += 1

    def rows(
        self, main: SessionSummary | None, agents: Usage, turns: int, options: Options
    ) -> list[tuple[str, str]]:
        """What is said of the session as a whole."""
        spent = main.spent if main else NOTHING
        model = main.started.model if main and main.started else None
        failed = f", {self.failed:,} failed" if self.failed else ""
        took = render.elapsed(self.first_at, self.last_at)
        return [
            ("Took", took or ""),
            ("Turns", f"{turns:,}"),
            ("Commands", f"{self.commands:,}{failed}" if self.commands else ""),
            ("Files changed", f"{len(self.files):,}" if self.files else ""),
            ("Other tools", f"{self.tools:,}" if self.tools else ""),
            ("Input tokens", f"{spent.input_tokens:,}" if spent else "not told"),
            ("of them cached", f"{spent.cached_input_tokens:,}" if spent else ""),
            ("Output tokens", f"{spent.output_tokens:,}" if spent else ""),
            ("Context", _context(main) if main else ""),
            ("Sub-agents", f"{self.agents:,}" if self.agents else ""),
            ("Their tokens", render.spent(agents) if agents else ""),
            ("Cost", (options.price(model, spent) or "") if spent else ""),
        ]


def _context(session: SessionSummary) -> str:
    used, window = session.context_used, session.context_window
    if not used or not window:
        return ""
    return f"{used:,} of {window:,} ({100 * used / window:.0f} %)"


def facts(session: SessionSummary | None) -> list[tuple[str, str]]:
    """What the head of the page says of a session."""
    started = session.started if session else None
    if started is None:
        return []
    program = " ".join(filter(None, (started.harness, started.version)))
    rows = [
        ("Agent", program),
        ("Model", started.model),
        ("Directory", started.cwd),
        ("Started", when(started.at) if started.at else None),
        ("Session", started.session_id),
    ]
    return [(name, value) for name, value in rows if value]
