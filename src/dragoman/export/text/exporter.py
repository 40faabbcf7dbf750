"""A transcript for a terminal, written live.

==================  =======================================================================
message             shown as
==================  =======================================================================
session_started     program, version, model and directory in a line, when they are new
prompt              a small angle and what the user asked
context             ``[developer]`` and the text, dim, if included
text                the text, unchanged
thinking            ``∴ dim``
tool_call           ``$ command``; ``± path (update)`` and the diff; a checklist; ``Tool(input)``
tool_result         the first lines, indented; ``✗ exit 1``
plan                ``☑ done``, ``◐ under way``, ``☐ to do``; nothing while a call shows it
delta               of text, if included: each line once, when it is complete
approval_requested  ``? command: rm -rf build``
approval_settled    ``→ decision``
notice              ``! text``; ``· text`` for mere information
compacted           ``⋯ conversation compacted`` and the summary
turn_ended          ``✓ completed · 530 in (120 cached) · 60 out``, ``✗ failed: why``,
                    ``■ interrupted``
session_ended       ``session ended: why``
unknown, malformed  the line, dim, if included
the rest            nothing
==================  =======================================================================

Related lines are grouped; a result that does not follow its call names it. A session started by another one
that is also shown is indented with ``│``. Everything in a message reaches the terminal as visible text only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from dragoman.export.base import Include, Options
from dragoman.export.text.page import Page, Speaker, Style, head, hung, more, split
from dragoman.export.text.streams import TextStreams
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Compacted,
    Context,
    Delta,
    Diff,
    Malformed,
    Message,
    Notice,
    Plan,
    PlanStep,
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
from dragoman.rendering.calls import CallIndex, explanation

DEFAULT: Final[frozenset[Include]] = frozenset()
"""Included by default."""

RESULT_LINES: Final = 12
DIFF_LINES: Final = 80

_ASKED: Final = "\u203a "
_BOXES: Final = {"completed": "☑", "in_progress": "◐", "pending": "☐"}
_DIFF_STYLES: Final[dict[str, Style]] = {"+": "green", "-": "red", "@": "cyan"}
_NOTICE_STYLES: Final[dict[str, Style]] = {"info": "dim", "warning": "yellow", "error": "red"}


@dataclass(slots=True)
class _TextSession(Speaker):
    header: list[str] = field(default_factory=list[str])
    turn_at: datetime | None = None
    calls: CallIndex = field(default_factory=CallIndex)
    approvals: dict[str, str] = field(default_factory=dict[str, str])
    streams: TextStreams = field(default_factory=TextStreams)


class TextExporter:
    wants_lines: bool = False
    diff_lines: int = DIFF_LINES
    """How much of a change is shown."""

    def __init__(self, options: Options) -> None:
        self._include = options.include | DEFAULT
        self._width = options.width
        self._sessions: dict[str | None, _TextSession] = {}
        self._page = Page(color=options.color)

    def export(self, messages: Iterable[Message]) -> bytes:
        for message in messages:
            self._show(message)
        return self._page.drain()

    def finish(self) -> bytes:
        for session in self._sessions.values():
            self._end_streams(session)
        return self._page.drain()

    def _show(self, message: Message) -> None:
        session = self._session(message.session_id)
        match message:
            case SessionStarted():
                self._session_started(message, session)
            case TurnStarted(at=at):
                session.turn_at = at
            case Prompt(text=text, images=images):
                lines = [*split(text), *(render.image(each) for each in images)]
                self._page.write(session, hung(_ASKED, lines), "bold")
            case Context(role=role, text=text):
                if "context" in self._include:
                    lines = [f"[{render.flat(role)}]", *split(text)]
                    self._page.write(session, lines, "dim")
            case Text():
                self._text(message, session)
            case Thinking(text=text):
                self._page.write(session, hung("∴ ", split(text)), "dim")
            case ToolCall():
                self._tool_call(message, session)
            case ToolResult():
                self._tool_result(message, session)
            case Plan(steps=steps, explanation=why):
                if not session.calls.show_a_plan:
                    self._plan(session, steps, why)
            case Delta():
                if message.of == "text" and "deltas" in self._include:
                    self._delta(message, session)
            case ApprovalRequested():
                self._approval_requested(message, session)
            case ApprovalSettled():
                self._approval_settled(message, session)
            case Notice(level=level, text=text, will_retry=will_retry):
                mark = "· " if level == "info" else "! "
                lines = hung(mark, split(f"{text} (will retry)" if will_retry else text))
                self._page.write(session, lines, _NOTICE_STYLES[level])
            case Compacted(summary=summary):
                lines = ["⋯ conversation compacted", *self._head(summary or "")]
                self._page.write(session, lines, "dim")
            case TurnEnded():
                self._turn_ended(message, session)
            case SessionEnded(reason=reason):
                self._end_streams(session)
                line = f"session ended: {render.one_line(reason, self._width)}"
                self._page.write(session, [line], "dim")
            case Unknown(native_type=kind, raw=raw):
                if "raw" in self._include:
                    lines = [f"[{render.one_line(kind, self._width)}]", *split(raw)]
                    self._page.write(session, lines, "dim")
            case Malformed(problem=problem, raw=raw):
                if "raw" in self._include:
                    lines = [f"[not JSON: {render.one_line(problem, self._width)}]", *split(raw)]
                    self._page.write(session, lines, "dim")
            case Diff() | UsageReport() | RateLimits():
                pass

    def _session(self, session_id: str | None) -> _TextSession:
        session = self._sessions.get(session_id)
        if session is None:
            session = self._sessions[session_id] = _TextSession(session_id)
        return session

    def _session_started(self, message: SessionStarted, session: _TextSession) -> None:
        parent = self._sessions.get(message.parent_session_id)
        if message.parent_session_id is not None and parent and parent is not session:
            session.depth = parent.depth + 1
        header = render.session(message)
        if header == session.header:
            return
        session.header = header
        self._page.introduce(session)
        self._page.write(session, [" · ".join(header)], "bold")

    def _text(self, message: Text, session: _TextSession) -> None:
        if (streamed := session.streams.complete(message)) is None:
            self._page.write(session, split(message.text))
            return
        message_id, rest = streamed
        self._page.write(session, split(rest), part_of=("text", message_id))

    def _delta(self, message: Delta, session: _TextSession) -> None:
        lines = render.harmless(session.streams.add(message)).split("\n")[:-1]
        self._page.write(session, lines, part_of=("text", message.message_id))

    def _end_streams(self, session: _TextSession) -> None:
        """Write the rest of texts that will not be completed."""
        for message_id, rest in session.streams.end():
            self._page.write(session, split(rest), part_of=("text", message_id))

    def _tool_call(self, call: ToolCall, session: _TextSession) -> None:
        session.calls.begin(call)
        if steps := render.steps(call):
            self._plan(session, steps, explanation(call))
        elif (command := render.command(call)) is not None:
            lines = hung("$ ", self._head(command, indent="") or [""])
            self._page.write(session, lines, "cyan", part_of=("call", call.call_id))
        elif files := render.changes(call):
            for file in files:
                lines = [self._page.paint(f"± {file.path} ({file.kind})", "cyan")]
                lines += [
                    f"  {self._page.paint(line, _DIFF_STYLES.get(line[:1]))}"
                    for line in file.lines[: self.diff_lines]
                ]
                lines += more(len(file.lines) - self.diff_lines)
                self._page.write(session, lines, part_of=("call", call.call_id))
        else:
            line = render.summary(call, 3 * self._width)
            self._page.write(session, [line], "cyan", part_of=("call", call.call_id))

    def _tool_result(self, result: ToolResult, session: _TextSession) -> None:
        call = session.calls.end(result)
        trouble = render.trouble(result)
        if call and render.steps(call) and not trouble:
            return
        lines = self._head(result.output)
        if trouble:
            lines.append(f"  {self._page.paint(f'✗ {trouble}', 'red')}")
        if not lines:
            return
        if not self._page.is_at(session, ("call", result.call_id)):
            name = render.summary(call, self._width) if call else result.call_id
            lines.insert(0, self._page.paint(f"↳ {render.flat(name)}", "dim"))
        self._page.write(session, lines, part_of=("call", result.call_id))

    def _approval_requested(self, message: ApprovalRequested, session: _TextSession) -> None:
        asked = f"{message.kind}: {message.summary or message.tool or message.approval_id}"
        session.approvals[message.approval_id] = asked
        lines = hung("? ", self._head(asked, indent=""))
        if message.choices:
            lines.append(f"  [{render.one_line(' / '.join(message.choices), self._width)}]")
        self._page.write(session, lines, "yellow", part_of=("approval", message.approval_id))

    def _approval_settled(self, message: ApprovalSettled, session: _TextSession) -> None:
        lines = [f"  → {render.one_line(message.decision, self._width)}"]
        asked = session.approvals.pop(message.approval_id, message.approval_id)
        if not self._page.is_at(session, ("approval", message.approval_id)):
            lines.insert(0, f"↳ {render.one_line(asked, self._width)}")
        self._page.write(session, lines, "yellow", part_of=("approval", message.approval_id))

    def _plan(self, session: _TextSession, steps: Sequence[PlanStep], why: str | None) -> None:
        lines = [self._page.paint(line, "dim") for line in split(why)] if why else []
        for step in steps:
            lines += hung(f"{_BOXES[step.status]} ", split(step.text))
        self._page.write(session, lines)

    def _turn_ended(self, message: TurnEnded, session: _TextSession) -> None:
        self._end_streams(session)
        tail = [render.spent(message.usage)] if message.usage else []
        if took := render.elapsed(session.turn_at, message.at):
            tail.append(took)
        session.turn_at = None
        session.calls.end_turn()
        style: Style
        match message.outcome:
            case "completed":
                mark, style = "✓ ", "green"
            case "failed":
                mark, style = "✗ ", "red"
            case "interrupted":
                mark, style = "■ ", "yellow"
        if message.error is None:
            lines = [self._page.paint(" · ".join([mark + message.outcome, *tail]), style)]
        else:
            said = hung(mark, split(f"{message.outcome}: {message.error.message}"))
            lines = [self._page.paint(line, style) for line in said]
            lines += [self._page.paint(f"  {' · '.join(tail)}", "dim")] if tail else []
        self._page.write(session, lines)

    def _head(self, text: str, indent: str = "  ") -> list[str]:
        return head(text, RESULT_LINES, 3 * self._width, indent)
