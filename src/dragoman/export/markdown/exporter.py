"""A transcript to keep, send or publish, in GitHub's Markdown.

==================  =======================================================================
message             shown as
==================  =======================================================================
session_started     a heading with program and version, model and directory below
turn_started        ``## Turn 1``; a prompt or an answer without one opens a turn, too
prompt              a quotation
context             folded, if included
text                the text, Markdown as the agent wrote it
thinking            folded
tool_call           a fence: ``sh`` for commands, ``diff`` for edits, ``json`` for the rest;
                    folded when very long
tool_result         a fence, folded when long; the problem
plan                a task list; nothing while a call shows it
approval_requested  a line
approval_settled    a line
notice              a line
compacted           a line, or the summary, folded
turn_ended          outcome, tokens and time; the error in a fence
unknown, malformed  the line in a fence, if included
the rest            nothing
==================  =======================================================================

A session that another one started, or that continues it, has smaller headings. Texts of agents and users may
use all of Markdown except HTML, and cannot end elements of ours (see :mod:`dragoman.export.markdown.pieces`). A
result or a decision that does not follow its call or question names it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from dragoman.export.base import Include, Options
from dragoman.export.markdown.calls import NAME_WIDTH, call_block, task_list
from dragoman.export.markdown.pieces import (
    clean,
    code_span,
    escaped,
    fenced,
    folded,
    prose,
    quoted,
)
from dragoman.model import tools
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
from dragoman.rendering.calls import CallIndex

DEFAULT: Final[frozenset[Include]] = frozenset()
"""Included by default."""

OPEN_LINES: Final = 20
"""A result longer than this is folded."""

_MARKS: Final = {"completed": "✓", "failed": "✗", "interrupted": "■"}


@dataclass(slots=True)
class _MarkdownSession:
    session_id: str | None
    nested_as: str | None = None
    """Its name below the session that it belongs to, if it is shown below one."""
    delegates: bool = False
    """Whether it has started a sub-agent."""
    header: list[str] = field(default_factory=list[str])
    turns: int = 0
    in_turn: bool = False
    announced: bool = False
    """Whether the turn under way has had its ``turn_started``."""
    turn_at: datetime | None = None
    calls: CallIndex = field(default_factory=CallIndex)
    approvals: dict[str, str] = field(default_factory=dict[str, str])


class MarkdownExporter:
    wants_lines: bool = False

    def __init__(self, options: Options) -> None:
        self._include = options.include | DEFAULT
        self._sessions: dict[str | None, _MarkdownSession] = {}
        self._parts: list[str] = []
        self._empty = True
        self._speaker: _MarkdownSession | None = None
        """The session of the latest message."""
        self._newest: tuple[str, str] | None = None
        """The latest call or approval, if nothing came after it."""

    def export(self, messages: Iterable[Message]) -> bytes:
        for message in messages:
            self._show(message)
        parts, self._parts = self._parts, []
        return "".join(parts).encode("utf-8", "backslashreplace")

    def finish(self) -> bytes:
        return b""

    def _show(self, message: Message) -> None:
        session = self._session(message.session_id)
        match message:
            case SessionStarted():
                self._session_started(message, session)
            case TurnStarted(at=at):
                if not session.in_turn or session.announced:
                    self._open_turn(session)
                session.announced, session.turn_at = True, at
            case Prompt(text=text, images=images):
                asked = filter(None, [prose(text), *(render.image(each) for each in images)])
                if blocks := [*asked]:
                    self._add_to_turn(session, quoted("\n\n".join(blocks)))
            case Context(role=role, text=text):
                if "context" in self._include:
                    self._write(session, folded(f"Context ({role})", prose(text)))
            case Text(text=text):
                if text.strip():
                    self._add_to_turn(session, prose(text))
            case Thinking(text=text):
                if text.strip():
                    self._add_to_turn(session, folded("Thinking", prose(text)))
            case ToolCall(call_id=call_id, tool=tool):
                session.delegates |= tool == tools.TASK
                session.calls.begin(message)
                self._add_to_turn(session, call_block(message))
                self._newest = ("call", call_id)
            case ToolResult():
                self._tool_result(message, session)
            case Plan(steps=steps, explanation=why):
                if (steps or why) and not session.calls.show_a_plan:
                    self._add_to_turn(session, task_list(steps, why))
            case ApprovalRequested():
                self._approval_requested(message, session)
            case ApprovalSettled():
                self._approval_settled(message, session)
            case Notice(level=level, text=text, will_retry=will_retry):
                title = f"{level.capitalize()}, will retry" if will_retry else level.capitalize()
                self._write(session, prose(f"**{title}:** {clean(text)}"))
            case Compacted(summary=summary):
                title = "Conversation compacted"
                self._write(session, folded(title, prose(summary)) if summary else f"*{title}*")
            case TurnEnded():
                self._turn_ended(message, session)
            case SessionEnded(reason=reason):
                self._write(session, f"*Session ended:* {code_span(reason)}")
            case Unknown(native_type=kind, raw=raw):
                if "raw" in self._include:
                    self._write(session, f"*Unknown:* {code_span(kind)}\n\n{fenced(raw, 'json')}")
            case Malformed(raw=raw, problem=problem):
                if "raw" in self._include:
                    self._write(
                        session, f"*Not JSON:* {code_span(problem)}\n\n{fenced(raw, 'text')}"
                    )
            case Diff() | Delta() | UsageReport() | RateLimits():
                pass

    def _session(self, session_id: str | None) -> _MarkdownSession:
        session = self._sessions.get(session_id)
        if session is None:
            session = self._sessions[session_id] = _MarkdownSession(session_id)
        return session

    def _session_started(self, message: SessionStarted, session: _MarkdownSession) -> None:
        parent = self._sessions.get(message.parent_session_id)
        if message.parent_session_id is not None and parent and parent is not session:
            session.nested_as = "Sub-agent" if parent.delegates else "Session"
        header = render.session(message)
        if header == session.header:
            return
        session.header = header
        program, *facts = header
        title = f"### {session.nested_as}: " if session.nested_as else "# "
        title += escaped(program)
        known = [code_span(each) for each in (*facts, message.session_id) if each]
        self._speaker = session
        self._write(session, "\n\n".join(filter(None, (title, " · ".join(known)))))

    def _open_turn(self, session: _MarkdownSession) -> None:
        session.turns += 1
        session.in_turn, session.announced, session.turn_at = True, False, None
        self._write(session, f"{'####' if session.nested_as else '##'} Turn {session.turns}")

    def _add_to_turn(self, session: _MarkdownSession, block: str) -> None:
        """Write a block that belongs to a turn."""
        if not session.in_turn:
            self._open_turn(session)
        self._write(session, block)

    def _write(self, session: _MarkdownSession, block: str) -> None:
        if session is not self._speaker and self._speaker is not None and session.session_id:
            block = f"*In session* {code_span(session.session_id)}\n\n{block}"
        if session.session_id or self._speaker is None:
            self._speaker = session
        self._newest = None
        self._parts.append(block + "\n" if self._empty else f"\n{block}\n")
        self._empty = False

    def _follows(self, session: _MarkdownSession, kind: str, its_id: str) -> bool:
        """Whether the current block comes right below its call or approval."""
        return self._speaker is session and self._newest == (kind, its_id)

    def _tool_result(self, result: ToolResult, session: _MarkdownSession) -> None:
        call = session.calls.end(result)
        trouble = render.trouble(result)
        if call and render.steps(call) and not trouble:
            return
        blocks: list[str] = []
        if output := clean(result.output):
            blocks.append(fenced(output, "text", fold_after=OPEN_LINES))
        if trouble:
            blocks.append(f"**✗ {trouble}**")
        if not blocks:
            return
        if not self._follows(session, "call", result.call_id):
            name = render.summary(call, NAME_WIDTH) if call else result.call_id
            blocks.insert(0, f"*Result of* {code_span(name)}")
        self._add_to_turn(session, "\n\n".join(blocks))

    def _approval_requested(self, message: ApprovalRequested, session: _MarkdownSession) -> None:
        asked = code_span(message.summary or message.tool or message.approval_id)
        session.approvals[message.approval_id] = asked
        options = " / ".join(code_span(each) for each in message.choices)
        line = f"**Approval requested** ({message.kind}): {asked}"
        self._add_to_turn(session, f"{line} — {options}" if options else line)
        self._newest = ("approval", message.approval_id)

    def _approval_settled(self, message: ApprovalSettled, session: _MarkdownSession) -> None:
        asked = session.approvals.pop(message.approval_id, code_span(message.approval_id))
        which = "" if self._follows(session, "approval", message.approval_id) else f" ({asked})"
        self._add_to_turn(session, f"**Approval settled**{which}: {code_span(message.decision)}")

    def _turn_ended(self, message: TurnEnded, session: _MarkdownSession) -> None:
        took = render.elapsed(session.turn_at, message.at)
        facts = [
            f"**{_MARKS[message.outcome]} {message.outcome}**",
            render.spent(message.usage) if message.usage else None,
            took,
        ]
        block = " · ".join(filter(None, facts))
        if message.error:
            block += f"\n\n{fenced(message.error.message, 'text')}"
        self._add_to_turn(session, block)
        session.in_turn = False
        session.calls.end_turn()
