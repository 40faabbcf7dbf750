"""A transcript to keep, send or publish: Markdown as GitHub renders it.

==================  =======================================================================
message             shown as
==================  =======================================================================
session_started     a heading with program and version, model and directory below
turn_started        ``## Turn 1``; a prompt or an answer without one opens a turn, too
prompt              a quotation
context             folded, if included
text                the text, Markdown as the agent wrote it
thinking            folded
tool_call           a fence: ``sh`` for commands, ``diff`` for edits, ``json`` for the rest
tool_result         a fence, folded when long; what went wrong
plan                a task list; nothing while a call shows it
approval_requested  a line
approval_settled    a line
notice              a line
compacted           a line, or the summary, folded
turn_ended          outcome, tokens and time; the error in a fence
unknown, malformed  the line in a fence, if included
the rest            nothing
==================  =======================================================================

The words of an agent may use all of Markdown, but not end what we have begun: inside our own HTML
no tag of theirs is a tag, a fence is longer than any in what it holds, and one they left open is
closed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import msgspec

from dragoman.export import render
from dragoman.export.base import Include, Options
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

DEFAULT: Final[frozenset[Include]] = frozenset()
"""What is included without being asked for."""

OPEN_LINES: Final = 20
"""A result longer than this is folded."""

_NAME_WIDTH: Final = 120
_MARKS: Final = {"completed": "✓", "failed": "✗", "interrupted": "■"}
_TAG: Final = re.compile(r"<(?=[A-Za-z/!?])")
_FENCE: Final = re.compile(
    r"^(?P<before>[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(?P<mark>`{3,}|~{3,})(?P<info>.*)$",
    re.MULTILINE,
)


@dataclass(slots=True)
class _Session:
    session_id: str | None
    nested: bool = False
    header: list[str] = field(default_factory=list[str])
    turns: int = 0
    in_turn: bool = False
    announced: bool = False
    """Whether the turn under way has had its ``turn_started``."""
    turn_at: datetime | None = None
    calls: dict[str, ToolCall] = field(default_factory=dict[str, ToolCall])


class MarkdownExporter:
    wants_lines: bool = False

    def __init__(self, options: Options) -> None:
        self._include = options.include | DEFAULT
        self._sessions: dict[str | None, _Session] = {}
        self._parts: list[str] = []
        self._empty = True
        self._newest: _Session | None = None
        self._newest_call: str | None = None

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
                asked = filter(None, [_clean(text), *(render.image(each) for each in images)])
                lines = "\n\n".join(asked).split("\n")
                self._said(session, "\n".join(f"> {line}".rstrip() for line in lines))
            case Context(role=role, text=text):
                if "context" in self._include:
                    self._write(session, _folded(f"Context ({role})", _prose(text)))
            case Text(text=text):
                if text.strip():
                    self._said(session, _balanced(_clean(text)))
            case Thinking(text=text):
                if text.strip():
                    self._said(session, _folded("Thinking", _prose(text)))
            case ToolCall(call_id=call_id):
                session.calls[call_id] = message
                self._said(session, _call(message))
                self._newest_call = call_id
            case ToolResult():
                self._tool_result(message, session)
            case Plan(steps=steps, explanation=explanation):
                if not any(render.steps(call) for call in session.calls.values()):
                    self._said(session, _task_list(steps, explanation))
            case ApprovalRequested(kind=kind, summary=summary, choices=choices):
                line = f"**Approval requested** ({kind}): {_code(summary or message.approval_id)}"
                options = " / ".join(_code(each) for each in choices)
                self._said(session, f"{line} — {options}" if options else line)
            case ApprovalSettled(decision=decision):
                self._said(session, f"**Approval settled**: {_code(decision)}")
            case Notice(level=level, text=text, will_retry=will_retry):
                title = f"{level.capitalize()}, will retry" if will_retry else level.capitalize()
                self._write(session, f"**{title}:** {_prose(text)}")
            case Compacted(summary=summary):
                title = "Conversation compacted"
                self._write(session, _folded(title, _prose(summary)) if summary else f"*{title}*")
            case TurnEnded():
                self._turn_ended(message, session)
            case SessionEnded(reason=reason):
                self._write(session, f"*Session ended:* {_code(reason)}")
            case Unknown(native_type=kind, raw=raw):
                if "raw" in self._include:
                    self._write(session, f"*Unknown:* {_code(kind)}\n\n{_fenced(raw, 'json')}")
            case Malformed(raw=raw, problem=problem):
                if "raw" in self._include:
                    self._write(session, f"*Not JSON:* {_code(problem)}\n\n{_fenced(raw, 'text')}")
            case Diff() | Delta() | UsageReport() | RateLimits():
                pass

    def _session(self, session_id: str | None) -> _Session:
        session = self._sessions.get(session_id)
        if session is None:
            session = self._sessions[session_id] = _Session(session_id)
        return session

    def _session_started(self, message: SessionStarted, session: _Session) -> None:
        parent = self._sessions.get(message.parent_session_id)
        if message.parent_session_id is not None and parent and parent is not session:
            session.nested = True
        header = render.session(message)
        if header == session.header:
            return
        session.header = header
        program, *facts = header
        known = [_code(each) for each in (*facts, message.session_id) if each]
        self._newest = session
        title = f"### Sub-agent: {program}" if session.nested else f"# {program}"
        self._write(session, "\n\n".join(filter(None, (title, " · ".join(known)))))

    def _open_turn(self, session: _Session) -> None:
        session.turns += 1
        session.in_turn, session.announced, session.turn_at = True, False, None
        self._write(session, f"{'####' if session.nested else '##'} Turn {session.turns}")

    def _said(self, session: _Session, block: str) -> None:
        """Write something that belongs to a turn."""
        if not session.in_turn:
            self._open_turn(session)
        self._write(session, block)

    def _write(self, session: _Session, block: str) -> None:
        if session is not self._newest and self._newest is not None and session.session_id:
            block = f"*In session* {_code(session.session_id)}\n\n{block}"
        if session.session_id or self._newest is None:
            self._newest = session
        self._newest_call = None
        self._parts.append(block + "\n" if self._empty else f"\n{block}\n")
        self._empty = False

    def _tool_result(self, result: ToolResult, session: _Session) -> None:
        call = session.calls.pop(result.call_id, None)
        trouble = render.trouble(result)
        if call and render.steps(call) and not trouble:
            return
        blocks: list[str] = []
        if output := _clean(result.output):
            fence = _fenced(output, "text")
            count = output.count("\n") + 1
            blocks.append(fence if count <= OPEN_LINES else _folded(f"{count} lines", fence))
        if trouble:
            blocks.append(f"**✗ {trouble}**")
        if not blocks:
            return
        if self._newest is not session or self._newest_call != result.call_id:
            name = render.summary(call, _NAME_WIDTH) if call else result.call_id
            blocks.insert(0, f"*Result of* {_code(name)}")
        self._said(session, "\n\n".join(blocks))

    def _turn_ended(self, message: TurnEnded, session: _Session) -> None:
        took = render.elapsed(session.turn_at, message.at)
        facts = [
            f"**{_MARKS[message.outcome]} {message.outcome}**",
            render.spent(message.usage) if message.usage else None,
            took,
        ]
        block = " · ".join(filter(None, facts))
        if message.error:
            block += f"\n\n{_fenced(message.error.message, 'text')}"
        self._said(session, block)
        session.in_turn = False
        session.calls.clear()


def _call(call: ToolCall) -> str:
    if steps := render.steps(call):
        return _task_list(steps)
    if (command := render.command(call)) is not None:
        return _fenced(command, "sh")
    if files := render.changes(call):
        return "\n\n".join(_change(call.tool, file) for file in files)
    name = f"**{_escaped(render.one_line(call.tool, _NAME_WIDTH))}**"
    few = render.arguments(call)
    if not call.input or (len(call.input) == 1 and len(few) <= _NAME_WIDTH and "\n" not in few):
        return f"{name} {_code(few)}".rstrip()
    pretty = msgspec.json.format(msgspec.json.encode(call.input)).decode()
    return f"{name}\n\n{_fenced(pretty, 'json')}"


def _change(tool: str, file: render.Change) -> str:
    title = f"**{tool}** {_code(file.path)} ({_escaped(file.kind)})"
    diff = "\n".join(file.lines)
    return f"{title}\n\n{_fenced(diff, 'diff')}" if diff else title


def _task_list(steps: Sequence[PlanStep], why: str | None = None) -> str:
    # The title also keeps one list from running into the next.
    lines = ["**Plan**", ""]
    if why:
        lines += [_balanced(_clean(why)), ""]
    for step in steps:
        text = " ".join(_clean(step.text).split())
        box = "x" if step.status == "completed" else " "
        lines.append(f"- [{box}] {f'**{text}**' if step.status == 'in_progress' else text}")
    return "\n".join(lines)


def _clean(text: str) -> str:
    return render.harmless(text).strip("\r\n")


def _prose(text: str) -> str:
    """The words of others for inside our own HTML."""
    return _balanced(_escaped(_clean(text)))


def _escaped(text: str) -> str:
    return _TAG.sub("&lt;", text)


def _balanced(text: str) -> str:
    """The text with its last fence closed, if it was left open."""
    fence = before = ""
    for found in _FENCE.finditer(text):
        mark, info = found["mark"], found["info"]
        if fence:
            if mark.startswith(fence) and not info.strip():
                fence = ""
        elif mark[0] == "~" or "`" not in info:
            fence, before = mark, found["before"]
    # A fence inside a list or a quotation ends with it, and one more would open a new one.
    return f"{text}\n{fence}" if fence and not before else text


def _fenced(text: str, language: str) -> str:
    text = _clean(text)
    fence = "`" * max(3, 1 + _longest_run(text))
    return f"{fence}{language}\n{text}\n{fence}"


def _code(text: str) -> str:
    """A code span, on one line."""
    text = " ".join(render.harmless(text).split())
    ticks = "`" * (1 + _longest_run(text))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}" if text else ""


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def _folded(title: str, body: str) -> str:
    return f"<details>\n<summary>{_escaped(_clean(title))}</summary>\n\n{body}\n\n</details>"
