"""A transcript to read in a terminal, written as it happens.

==================  =======================================================================
message             shown as
==================  =======================================================================
session_started     program, version, model and directory in a line, when they are new
prompt              a small angle and what the user asked
context             ``[developer]`` and the text, dim, if included
text                the text as it is
thinking            ``∴ dim``
tool_call           ``$ command``; ``± path (update)`` and the diff; a checklist; ``Tool(input)``
tool_result         the first lines, indented; ``✗ exit 1``
plan                ``☑ done``, ``◐ under way``, ``☐ to do``; nothing while a call shows it
delta               of text, if included: each line when it is whole, and not once more later
approval_requested  ``? command: rm -rf build``
approval_settled    ``→ decision``
notice              ``! text``
compacted           ``⋯ conversation compacted`` and the summary
turn_ended          ``✓ completed · 530 in (120 cached) · 60 out``, ``✗ failed: why``,
                    ``■ interrupted``
session_ended       ``session ended: why``
unknown, malformed  the line, dim, if included
the rest            nothing
==================  =======================================================================

What belongs together stands together; a result that does not follow its call names it. A session
started by another one that is also being shown is indented with ``│``. Nothing that comes out of a
message reaches the terminal as anything but visible text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, TypeAlias

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

RESULT_LINES: Final = 12
DIFF_LINES: Final = 80

Style: TypeAlias = Literal["bold", "dim", "red", "green", "yellow", "cyan"]
_CODES: Final[dict[Style, str]] = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "cyan": "36",
}
_ASKED: Final = "\u203a "
_BOXES: Final = {"completed": "☑", "in_progress": "◐", "pending": "☐"}
_DIFF_STYLES: Final[dict[str, Style]] = {"+": "green", "-": "red", "@": "cyan"}
_NOTICE_STYLES: Final[dict[str, Style]] = {"info": "dim", "warning": "yellow", "error": "red"}


@dataclass(slots=True)
class _Stream:
    """A text of which only deltas have come so far."""

    text: str = ""
    shown: int = 0
    """How much of it, in whole lines, has been written."""

    def rest(self, whole: str) -> str | None:
        """What is still to be written when the whole has come; none if it is another text."""
        if whole.startswith(self.text):
            return whole[self.shown :]
        return self.text[self.shown :] if whole.strip() == self.text.strip() else None


@dataclass(slots=True)
class _Session:
    session_id: str | None
    depth: int = 0
    header: list[str] = field(default_factory=list[str])
    turn_at: datetime | None = None
    calls: dict[str, ToolCall] = field(default_factory=dict[str, ToolCall])
    approvals: dict[str, str] = field(default_factory=dict[str, str])
    streams: dict[str | None, _Stream] = field(default_factory=dict[str | None, _Stream])


class TextExporter:
    wants_lines: bool = False

    def __init__(self, options: Options) -> None:
        self._include = options.include | DEFAULT
        self._color = options.color
        self._width = options.width
        self._sessions: dict[str | None, _Session] = {}
        self._lines: list[str] = []
        self._newest: tuple[str | None, str, str | None] | None = None
        """What the newest line is part of: the session, the kind of thing, which one."""
        self._depth: int | None = None
        """How deep the newest line stands; none before the first."""
        self._shown_at: dict[int, str] = {}
        """The session last shown at each depth."""

    def export(self, messages: Iterable[Message]) -> bytes:
        for message in messages:
            self._show(message)
        return self._drain()

    def finish(self) -> bytes:
        for session in self._sessions.values():
            self._end_streams(session)
        return self._drain()

    def _drain(self) -> bytes:
        lines, self._lines = self._lines, []
        return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")

    def _show(self, message: Message) -> None:
        session = self._session(message.session_id)
        match message:
            case SessionStarted():
                self._session_started(message, session)
            case TurnStarted(at=at):
                session.turn_at = at
            case Prompt(text=text, images=images):
                lines = [*_split(text), *(render.image(each) for each in images)]
                self._write(session, _hung(_ASKED, lines), "bold")
            case Context(role=role, text=text):
                if "context" in self._include:
                    lines = [f"[{render.flat(role)}]", *_split(text)]
                    self._write(session, lines, "dim")
            case Text():
                self._text(message, session)
            case Thinking(text=text):
                self._write(session, _hung("∴ ", _split(text)), "dim")
            case ToolCall():
                self._tool_call(message, session)
            case ToolResult():
                self._tool_result(message, session)
            case Plan(steps=steps, explanation=explanation):
                if not any(render.steps(call) for call in session.calls.values()):
                    self._plan(session, steps, explanation)
            case Delta():
                if message.of == "text" and "deltas" in self._include:
                    self._delta(message, session)
            case ApprovalRequested():
                self._approval_requested(message, session)
            case ApprovalSettled():
                self._approval_settled(message, session)
            case Notice(level=level, text=text, will_retry=will_retry):
                lines = _hung("! ", _split(f"{text} (will retry)" if will_retry else text))
                self._write(session, lines, _NOTICE_STYLES[level])
            case Compacted(summary=summary):
                lines = ["⋯ conversation compacted", *self._head(summary or "")]
                self._write(session, lines, "dim")
            case TurnEnded():
                self._turn_ended(message, session)
            case SessionEnded(reason=reason):
                self._end_streams(session)
                line = f"session ended: {render.one_line(reason, self._width)}"
                self._write(session, [line], "dim")
            case Unknown(native_type=kind, raw=raw):
                if "raw" in self._include:
                    lines = [f"[{render.one_line(kind, self._width)}]", *_split(raw)]
                    self._write(session, lines, "dim")
            case Malformed(problem=problem, raw=raw):
                if "raw" in self._include:
                    lines = [f"[not JSON: {render.one_line(problem, self._width)}]", *_split(raw)]
                    self._write(session, lines, "dim")
            case Diff() | UsageReport() | RateLimits():
                pass

    def _session(self, session_id: str | None) -> _Session:
        session = self._sessions.get(session_id)
        if session is None:
            session = self._sessions[session_id] = _Session(session_id)
        return session

    def _session_started(self, message: SessionStarted, session: _Session) -> None:
        parent = self._sessions.get(message.parent_session_id)
        if message.parent_session_id is not None and parent and parent is not session:
            session.depth = parent.depth + 1
        header = render.session(message)
        if header == session.header:
            return
        session.header = header
        if message.session_id is not None:
            self._shown_at[session.depth] = message.session_id
        self._write(session, [" · ".join(header)], "bold")

    def _text(self, message: Text, session: _Session) -> None:
        for key in (message.message_id, *session.streams):
            stream = session.streams.get(key)
            rest = stream.rest(message.text) if stream else None
            if rest is not None:
                del session.streams[key]
                self._write(session, _split(rest), part_of=("text", key))
                return
        session.streams.pop(message.message_id, None)
        self._write(session, _split(message.text))

    def _delta(self, message: Delta, session: _Session) -> None:
        stream = session.streams.setdefault(message.message_id, _Stream())
        stream.text += message.text
        end = stream.text.rfind("\n", stream.shown) + 1
        if end > stream.shown:
            lines = render.harmless(stream.text[stream.shown : end]).split("\n")[:-1]
            stream.shown = end
            self._write(session, lines, part_of=("text", message.message_id))

    def _end_streams(self, session: _Session) -> None:
        """Write what was said of texts that will not be completed."""
        for message_id, stream in session.streams.items():
            rest = _split(stream.text[stream.shown :])
            self._write(session, rest, part_of=("text", message_id))
        session.streams.clear()

    def _tool_call(self, call: ToolCall, session: _Session) -> None:
        session.calls[call.call_id] = call
        if steps := render.steps(call):
            self._plan(session, steps, None)
        elif (command := render.command(call)) is not None:
            lines = _hung("$ ", self._head(command, indent="") or [""])
            self._write(session, lines, "cyan", part_of=("call", call.call_id))
        elif files := render.changes(call):
            for file in files:
                lines = [self._paint(f"± {file.path} ({file.kind})", "cyan")]
                lines += [
                    f"  {self._paint(line, _DIFF_STYLES.get(line[:1]))}"
                    for line in file.lines[:DIFF_LINES]
                ]
                lines += _more(len(file.lines) - DIFF_LINES)
                self._write(session, lines, part_of=("call", call.call_id))
        else:
            line = render.summary(call, self._width)
            self._write(session, [line], "cyan", part_of=("call", call.call_id))

    def _tool_result(self, result: ToolResult, session: _Session) -> None:
        call = session.calls.pop(result.call_id, None)
        trouble = render.trouble(result)
        if call and render.steps(call) and not trouble:
            return
        lines = self._head(result.output)
        if trouble:
            lines.append(f"  {self._paint(f'✗ {trouble}', 'red')}")
        if not lines:
            return
        if self._newest != (result.session_id, "call", result.call_id):
            name = render.summary(call, self._width) if call else result.call_id
            lines.insert(0, self._paint(f"↳ {render.flat(name)}", "dim"))
        self._write(session, lines, part_of=("call", result.call_id))

    def _approval_requested(self, message: ApprovalRequested, session: _Session) -> None:
        asked = f"{message.kind}: {message.summary or message.tool or message.approval_id}"
        session.approvals[message.approval_id] = asked
        lines = _hung("? ", self._head(asked, indent=""))
        if message.choices:
            lines.append(f"  [{render.one_line(' / '.join(message.choices), self._width)}]")
        self._write(session, lines, "yellow", part_of=("approval", message.approval_id))

    def _approval_settled(self, message: ApprovalSettled, session: _Session) -> None:
        lines = [f"  → {render.one_line(message.decision, self._width)}"]
        asked = session.approvals.pop(message.approval_id, message.approval_id)
        if self._newest != (message.session_id, "approval", message.approval_id):
            lines.insert(0, f"↳ {render.one_line(asked, self._width)}")
        self._write(session, lines, "yellow", part_of=("approval", message.approval_id))

    def _plan(self, session: _Session, steps: Sequence[PlanStep], why: str | None) -> None:
        lines = [self._paint(line, "dim") for line in _split(why)] if why else []
        for step in steps:
            lines += _hung(f"{_BOXES[step.status]} ", _split(step.text))
        self._write(session, lines)

    def _turn_ended(self, message: TurnEnded, session: _Session) -> None:
        self._end_streams(session)
        tail = [render.spent(message.usage)] if message.usage else []
        if took := render.elapsed(session.turn_at, message.at):
            tail.append(took)
        session.turn_at = None
        session.calls.clear()
        style: Style
        match message.outcome:
            case "completed":
                mark, style = "✓ ", "green"
            case "failed":
                mark, style = "✗ ", "red"
            case "interrupted":
                mark, style = "■ ", "yellow"
        if message.error is None:
            lines = [self._paint(" · ".join([mark + message.outcome, *tail]), style)]
        else:
            said = _hung(mark, _split(f"{message.outcome}: {message.error.message}"))
            lines = [self._paint(line, style) for line in said]
            lines += [self._paint(f"  {' · '.join(tail)}", "dim")] if tail else []
        self._write(session, lines)

    def _head(self, text: str, indent: str = "  ") -> list[str]:
        """The first lines of something long, none of them longer than a few of the terminal's."""
        lines, more = render.head(text, RESULT_LINES)
        return [indent + render.clip(line, 3 * self._width) for line in lines] + _more(more, indent)

    def _paint(self, line: str, style: Style | None) -> str:
        if not self._color or style is None or not line:
            return line
        return f"\x1b[{_CODES[style]}m{line}\x1b[0m"

    def _write(
        self,
        session: _Session,
        lines: Sequence[str],
        style: Style | None = None,
        part_of: tuple[str, str | None] | None = None,
    ) -> None:
        """Write lines apart from those before, unless both are part of the same thing."""
        if not lines:
            return
        name = session.session_id
        newest = (name, *part_of) if part_of else None
        if newest is None or newest != self._newest:
            if self._depth is not None:
                self._put(min(session.depth, self._depth), "")
            if name is not None and self._shown_at.setdefault(session.depth, name) != name:
                self._shown_at[session.depth] = name
                self._put(session.depth, self._paint(f"── {render.flat(name)}", "dim"))
        self._newest, self._depth = newest, session.depth
        for line in lines:
            self._put(session.depth, self._paint(line, style))

    def _put(self, depth: int, line: str) -> None:
        margin = "│ " * depth
        self._lines.append(self._paint(margin if line else margin.rstrip(), "dim") + line)


def _split(text: str) -> list[str]:
    """The lines of a text, harmless, without empty ones at either end."""
    text = text.strip("\r\n")
    return render.harmless(text).split("\n") if text else []


def _hung(mark: str, lines: Sequence[str]) -> list[str]:
    """Lines with a mark before the first, the others below the text of the first."""
    return [mark + line for line in lines[:1]] + [f"  {line}" if line else "" for line in lines[1:]]


def _more(count: int, indent: str = "  ") -> list[str]:
    return [f"{indent}… {count} more line{'s' * (count != 1)}"] if count > 0 else []
