"""Rows of an approval request: the command or diff, the facts, and the agent's reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import msgspec

from dragoman.cli.approvals.facts import facts
from dragoman.cli.approvals.layout import QuestionRows, shortened
from dragoman.cli.approvals.questions import questions
from dragoman.cli.live import diffs
from dragoman.cli.live.cells import counted, tidy_lines, wrap
from dragoman.cli.live.ink import GUTTER, Ink
from dragoman.model import tools
from dragoman.model.messages import ApprovalRequested, ToolCall
from dragoman.rendering import render

_QUESTIONS: Final = {
    "command": "Run this command?",
    "edit": "Make these changes?",
    "permissions": "Grant these permissions?",
    "tool": "Use this tool?",
    "question": "A question for you",
    "elicitation": "A question for you",
}
_DECISIONS: Final = {
    "allow": "allowed",
    "allow_for_session": "allowed for this session",
    "allow_always": "allowed from now on",
    "deny": "denied",
    "cancel": "denied, and the turn stopped",
    "answered": "answered",
    "resolved": "settled elsewhere",
}
_KEPT_ROWS: Final = 120


def asked_rows(
    asked: ApprovalRequested, ink: Ink, width: int, root: str | None = None
) -> QuestionRows:
    """The complete request, as rows of this width."""
    room = width - len(GUTTER)
    content: list[str] = []
    changes = _changes(asked)
    for change in changes:
        content += [f"  {row}" for row in diffs.whole_title(change, ink, width - 2, root)]
        content += diffs.whole_body(change, ink, width)
    if not changes:
        lines = [row for line in _lines(asked) for row in wrap(line, room)]
        content += [ink.gutter(line, "bold") for line in lines]
    reason = asked.detail.get("reason")
    if not isinstance(reason, str) or reason == asked.summary:
        reason = ""
    why = [row for line in tidy_lines(reason) for row in wrap(line, room)]
    return QuestionRows(
        title=[ink(row, "yellow", "bold") for row in wrap(f"? {_QUESTIONS[asked.kind]}", width)],
        content=content,
        facts=[
            [
                ink.gutter(row, "yellow" if fact.is_odd else "dim")
                for row in wrap(f"{fact.label}: {fact.value}", room)
            ]
            for fact in facts(asked, root)
        ],
        reason=[ink.gutter(line, "italic") for line in why],
    )


def question(asked: ApprovalRequested, ink: Ink, width: int, root: str | None = None) -> list[str]:
    """The request as it stays in the transcript: complete, unless it is very long."""
    rows = asked_rows(asked, ink, width, root)
    content = shortened(rows.content, _KEPT_ROWS, lambda count: left_out(count, ink))
    return replace(rows, content=content).whole()


def left_out(count: int, ink: Ink) -> str:
    """The row that replaces this many hidden rows of a request."""
    return ink.gutter(f"… {counted(count, 'more row')}", "red")


def settled(decision: str, ink: Ink) -> str:
    words = _DECISIONS.get(decision) or render.one_line(decision, 60)
    return ink(f"  → {words}", "green" if decision.startswith(("allow", "answer")) else "yellow")


def _lines(asked: ApprovalRequested) -> list[str]:
    """The content of a request: for a command, all that will run; the shell is a separate fact."""
    if asked.kind == "question":
        return [line for each in questions(asked) for line in tidy_lines(each.text)]
    text = asked.summary or asked.tool or ""
    if asked.kind == "command" and not asked.shell:
        text = asked.command or text
    # Control characters are neither obeyed nor removed, unlike in a program's output: after a carriage
    # return, another command could be printed over the one that will run.
    lines = tidy_lines(text) or [""]
    for name in ("permissions", "arguments"):
        given = asked.detail.get(name)
        if isinstance(given, Mapping) and given:
            lines += tidy_lines(msgspec.json.format(msgspec.json.encode(given)).decode())
    return lines


def _changes(asked: ApprovalRequested) -> list[render.Change]:
    if asked.kind != "edit":
        return []
    call = ToolCall(call_id="", tool=tools.EDIT, native_tool="", input=asked.detail)
    return render.changes(call)
