"""The state behind the live view: finished rows, and what is still in progress.

==================  =======================================================================
message             becomes
==================  =======================================================================
text, its deltas    each line once, as soon as it is complete
thinking            dim, italic rows; its deltas are shown only until then
tool_call           an open card, which collects the deltas of its output
tool_result         the finished card: exit code and time, a coloured diff, head and tail
plan                the current plan; written when the turn ends
approval_requested  an open request; written in full with the decision
turn_ended          outcome, time, tokens, context
the rest            as in the plain transcript, or nothing
==================  =======================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from dragoman.cli.live import approvals, status
from dragoman.cli.live.cards import Card
from dragoman.cli.live.cells import clip, printed, tidy, tidy_lines, wrap
from dragoman.cli.live.ink import Hue, Ink
from dragoman.cli.live.markdown import MarkdownRows
from dragoman.export.text.page import Page, Speaker, Thing
from dragoman.export.text.streams import TextStreams
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Compacted,
    Context,
    Delta,
    Diff,
    Level,
    Malformed,
    Message,
    Notice,
    Plan,
    Prompt,
    RateLimits,
    SessionEnded,
    SessionStarted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    Unknown,
    UsageReport,
)
from dragoman.rendering import render

_NOTICE_HUES: Final[dict[Level, Hue]] = {"info": "dim", "warning": "yellow", "error": "red"}
_ASKED: Final = "\u203a "


@dataclass(slots=True)
class SessionProgress(Speaker):
    """One session while it is shown."""

    header: list[str] = field(default_factory=list[str])
    root: str | None = None
    cards: dict[str, Card] = field(default_factory=dict[str, Card])
    left: dict[str, Card] = field(default_factory=dict[str, Card])
    """Cards that were open when their turn ended. A late result still finds its card here."""
    asked: dict[str, ApprovalRequested] = field(default_factory=dict[str, ApprovalRequested])
    streams: TextStreams = field(default_factory=TextStreams)
    words: dict[str | None, MarkdownRows] = field(default_factory=dict[str | None, MarkdownRows])
    partial: dict[str | None, str] = field(default_factory=dict[str | None, str])
    """The incomplete last line of each streamed text."""
    thought: str = ""
    plan: Plan | None = None
    usage: UsageReport | None = None
    began: float | None = None
    """When the turn started; None between turns."""
    activity: str = "Thinking"


class LiveTranscript:
    def __init__(self, ink: Ink) -> None:
        self._ink = ink
        self._page = Page(color=ink.colour)
        self.sessions: dict[str | None, SessionProgress] = {}

    def drain(self) -> list[str]:
        """The rows finished since the last call."""
        return self._page.drain().decode("utf-8", "backslashreplace").split("\n")[:-1]

    def is_streaming(self, session: SessionProgress) -> bool:
        """Whether the streamed text continues at the end of the page."""
        return self._page.is_at(session, ("text", next(iter(session.partial), None)))

    def open_question(self) -> ApprovalRequested | None:
        """The oldest request that is not settled."""
        asked = (each for session in self.sessions.values() for each in session.asked.values())
        return next(asked, None)

    def root_of(self, message: Message) -> str | None:
        """The working directory of the message's session."""
        session = self.sessions.get(message.session_id)
        return session.root if session else None

    def write_rows(self, rows: Sequence[str]) -> None:
        """Add rows of Dragoman itself."""
        self._page.write(self._session(None), rows)

    def end(self, width: int) -> None:
        """Write out partial texts, because no more messages follow."""
        for session in self.sessions.values():
            self._end_streams(session, width)
            self._end_turn(session)

    def add(self, message: Message, now: float, width: int) -> None:
        session = self._session(message.session_id)
        width = max(20, width - 2 * session.depth)
        match message:
            case SessionStarted():
                self._session_started(message, session, width)
            case TurnStarted():
                session.began, session.activity = now, "Thinking"
            case Prompt(text=text, images=images):
                lines = [*tidy_lines(text), *(render.image(each) for each in images)]
                self._hang(session, _ASKED, lines, width, "bold")
            case Text():
                self._text(message, session, width)
            case Thinking(text=text):
                session.thought = ""
                self._write(session, thinking(text, self._ink, width))
            case Delta():
                self._delta(message, session, width)
            case ToolCall():
                card = Card(message, self._ink, now, session.root)
                session.cards[message.call_id] = card
            case ToolResult():
                self._tool_result(message, session, now, width)
            case Plan():
                self._plan(message, session, width)
            case ApprovalRequested():
                session.asked[message.approval_id] = message
            case ApprovalSettled():
                self._settled(message, session, width)
            case Notice():
                mark = "· " if message.level == "info" else "! "
                text = f"{message.text} (will retry)" if message.will_retry else message.text
                lines = tidy_lines(text)
                self._hang(session, mark, lines, width, _NOTICE_HUES[message.level])
            case Compacted():
                self._write(session, [self._ink("⋯ conversation compacted", "dim")])
            case TurnEnded():
                self._turn_ended(message, session, now, width)
            case UsageReport():
                session.usage = message
            case SessionEnded(reason=reason):
                self._end_streams(session, width)
                self._end_turn(session)
                line = f"session ended: {render.one_line(reason, width)}"
                self._write(session, [self._ink(clip(line, width), "dim")])
            case Context() | Diff() | RateLimits() | Unknown() | Malformed():
                pass

    def _session(self, session_id: str | None) -> SessionProgress:
        session = self.sessions.get(session_id)
        if session is None:
            session = self.sessions[session_id] = SessionProgress(session_id)
        return session

    def _write(
        self, session: SessionProgress, rows: Sequence[str], part_of: Thing | None = None
    ) -> None:
        self._page.write(session, rows, part_of=part_of)

    def _hang(
        self, session: SessionProgress, mark: str, lines: Sequence[str], width: int, *hues: Hue
    ) -> None:
        """Wrapped lines with a mark before the first and the others indented to match."""
        rows = [row for line in lines for row in wrap(line, width - 2)]
        rows = [mark + row for row in rows[:1]] + [f"  {row}".rstrip() for row in rows[1:]]
        self._write(session, [self._ink(row, *hues) for row in rows])

    def _session_started(
        self, message: SessionStarted, session: SessionProgress, width: int
    ) -> None:
        parent = self.sessions.get(message.parent_session_id)
        if message.parent_session_id is not None and parent and parent is not session:
            # ``width`` is that of the depth before.
            width = max(20, width - 2 * (parent.depth + 1 - session.depth))
            session.depth = parent.depth + 1
        session.root = render.flat(message.cwd) if message.cwd else session.root
        header = render.session(message)
        if header == session.header:
            return
        session.header = header
        self._page.introduce(session)
        line = clip(" · ".join(header), width - 2)
        self._write(session, [f"{self._ink('●', 'cyan')} {self._ink(line, 'dim')}"])

    def _text(self, message: Text, session: SessionProgress, width: int) -> None:
        streamed = session.streams.complete(message)
        message_id, rest = streamed if streamed else (message.message_id, message.text)
        self._say(session, message_id, rest, width, is_new=streamed is None)
        session.words.pop(message_id, None)
        session.partial.pop(message_id, None)

    def _say(
        self,
        session: SessionProgress,
        message_id: str | None,
        text: str,
        width: int,
        *,
        is_new: bool,
    ) -> None:
        lines = tidy_lines(text) if is_new else tidy(text.rstrip("\n")).split("\n")
        if not text.strip("\n"):
            return
        words = session.words.setdefault(message_id, MarkdownRows(self._ink))
        rows = [row for line in lines for row in words.rows(line, width)]
        self._write(session, rows, None if is_new else ("text", message_id))

    def _delta(self, message: Delta, session: SessionProgress, width: int) -> None:
        name = message.message_id
        match message.of:
            case "text":
                session.activity = "Writing"
                whole = session.streams.add(message)
                tail = session.partial.get(name, "") + message.text
                session.partial[name] = tail.rpartition("\n")[2]
                if whole:
                    words = session.words.setdefault(name, MarkdownRows(self._ink))
                    lines = tidy(whole).split("\n")[:-1]
                    rows = [row for line in lines for row in words.rows(line, width)]
                    self._write(session, rows, ("text", name))
            case "thinking":
                session.activity = "Thinking"
                session.thought += message.text
            case "output":
                if name in session.cards:
                    session.cards[name].add_output(message.text)
            case "plan":
                session.activity = "Planning"

    def _tool_result(
        self, result: ToolResult, session: SessionProgress, now: float, width: int
    ) -> None:
        session.activity = "Thinking"
        self._asked(result.call_id, session, width)
        timed = now if result.call_id in session.cards else None
        card = session.cards.pop(result.call_id, None) or session.left.pop(result.call_id, None)
        if card is None:
            lines = printed(result.output).strip("\n").split("\n")[:4] if result.output else []
            rows = [self._ink(f"↳ {render.one_line(result.call_id, width)}", "dim")]
            rows += [self._ink.gutter(clip(line, width - 4)) for line in lines]
            self._write(session, rows)
            return
        if result.status == "abandoned":
            session.left[result.call_id] = card
        if not card.is_plan or render.trouble(result):
            self._write(session, card.ended(result, width, timed))

    def _plan(self, message: Plan, session: SessionProgress, width: int) -> None:
        session.plan = message
        if session.began is None:
            self._end_turn(session, width)

    def _settled(self, message: ApprovalSettled, session: SessionProgress, width: int) -> None:
        name = message.approval_id
        if name not in session.asked and not self._page.is_at(session, ("approval", name)):
            rows = [self._ink(f"↳ {render.one_line(name, width - 2)}", "dim")]
            self._write(session, rows, ("approval", name))
        self._asked(name, session, width)
        self._write(session, [approvals.settled(message.decision, self._ink)], ("approval", name))

    def _asked(self, approval_id: str, session: SessionProgress, width: int) -> None:
        """Write a request that is no longer open."""
        asked = session.asked.pop(approval_id, None)
        if asked is None:
            return
        if approval_id in session.cards and asked.detail.get("changes"):
            session.cards[approval_id].was_shown = True
        rows = approvals.question(asked, self._ink, width, session.root)
        self._write(session, rows, ("approval", approval_id))

    def _turn_ended(
        self, message: TurnEnded, session: SessionProgress, now: float, width: int
    ) -> None:
        self._end_streams(session, width)
        took = now - session.began if session.began is not None else None
        self._end_turn(session, width)
        rows = status.ending(self._ink, width, message, session.usage, took)
        self._write(session, rows)

    def _end_turn(self, session: SessionProgress, width: int | None = None) -> None:
        if session.plan is not None and width is not None:
            plan = session.plan
            rows = status.checklist(self._ink, width, plan.steps, plan.explanation)
            self._write(session, rows)
        session.left |= session.cards
        session.cards, session.plan, session.began = {}, None, None
        session.thought = ""
        session.asked.clear()

    def _end_streams(self, session: SessionProgress, width: int) -> None:
        """Write the parts of texts that stay incomplete, and requests that were never settled."""
        for approval_id in list(session.asked):
            self._asked(approval_id, session, width)
        for message_id, rest in session.streams.end():
            self._say(session, message_id, rest, width, is_new=False)
        session.words.clear()
        session.partial.clear()


def thinking(text: str, ink: Ink, width: int) -> list[str]:
    """Rows of reasoning. Bold markers are dropped, because everything is italic."""
    lines = tidy_lines(text.replace("**", ""))
    rows = [row for line in lines if line.strip() for row in wrap(line, width - 2)]
    marked = [f"∴ {row}" for row in rows[:1]] + [f"  {row}".rstrip() for row in rows[1:]]
    return [ink(row, "dim", "italic") for row in marked]
