"""What an agent asks before it acts, as rows: the command, the diff, the reason it gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec

from dragoman.cli import live_diffs
from dragoman.cli.live_cells import clip, printed, tidy_lines, wrap
from dragoman.cli.live_ink import GUTTER, Ink
from dragoman.export import render
from dragoman.model import tools
from dragoman.model.messages import ApprovalRequested, ToolCall

_QUESTIONS: Final = {
    "command": "May I run this command?",
    "edit": "May I make these changes?",
    "permissions": "May I have these permissions?",
    "tool": "May I use this tool?",
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
_COMMAND_LINES: Final = 40
_DIFF_LINES: Final = 120


def question(asked: ApprovalRequested, ink: Ink, width: int, root: str | None = None) -> list[str]:
    """The whole question: nobody should approve what he cannot see."""
    room = width - len(GUTTER)
    rows = [ink(f"? {_QUESTIONS[asked.kind]}", "yellow", "bold")]
    changes = _changes(asked)
    for change in changes:
        rows.append(f"  {live_diffs.title(change, ink, width - 2, root)}")
        rows += live_diffs.body(change, ink, width, _DIFF_LINES)
    if not changes:
        lines = [row for line in _lines(asked) for row in wrap(line, room)]
        rows += [ink.gutter(line, "bold") for line in lines[:_COMMAND_LINES]]
        if len(lines) > _COMMAND_LINES:
            rows.append(ink.gutter(f"… {len(lines) - _COMMAND_LINES} more lines", "red"))
    cwd = asked.detail.get("cwd")
    if isinstance(cwd, str) and cwd != root:
        rows.append(ink.gutter(clip(f"in {render.flat(cwd)}", room), "dim"))
    reason = asked.detail.get("reason")
    if isinstance(reason, str) and reason and reason != asked.summary:
        lines = [row for line in tidy_lines(reason) for row in wrap(line, room)]
        rows += [ink.gutter(line, "italic") for line in lines]
    return rows


def settled(decision: str, ink: Ink) -> str:
    words = _DECISIONS.get(decision) or render.one_line(decision, 60)
    return ink(f"  → {words}", "green" if decision.startswith(("allow", "answer")) else "yellow")


def options(asked: ApprovalRequested) -> list[tuple[str, str, list[str]]]:
    """The questions of a question: each one's id, its text, and the answers it suggests."""
    found: list[tuple[str, str, list[str]]] = []
    for each in _dicts(asked.detail.get("questions")):
        text = str(each.get("question", ""))
        labels = [str(option.get("label", "")) for option in _dicts(each.get("options"))]
        found.append((str(each.get("id") or text), text, labels))
    return found or [(asked.summary, asked.summary, asked.choices)]


def _lines(asked: ApprovalRequested) -> list[str]:
    if asked.kind == "question":
        return [line for _, text, _ in options(asked) for line in tidy_lines(text)]
    lines = printed(asked.summary or asked.tool or "").strip("\n").split("\n")
    for name in ("permissions", "arguments"):
        given = asked.detail.get(name)
        if isinstance(given, Mapping) and given:
            lines += printed(msgspec.json.format(msgspec.json.encode(given)).decode()).split("\n")
    return lines


def _changes(asked: ApprovalRequested) -> list[render.Change]:
    if asked.kind != "edit":
        return []
    call = ToolCall(call_id="", tool=tools.EDIT, native_tool="", input=asked.detail)
    return render.changes(call)


def _dicts(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        return []
    items = cast("list[Any]", value)
    return [cast("dict[str, Any]", each) for each in items if isinstance(each, dict)]
