"""Tool calls and plans as Markdown: commands, edits, task lists, and any other call as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from dragoman.export.markdown.pieces import (
    clean,
    code_span,
    escaped,
    fenced,
    inline,
    prose,
)
from dragoman.model.messages import PlanStep, ToolCall
from dragoman.rendering import render
from dragoman.rendering.calls import explanation

OPEN_LINES: Final = 80
"""A call longer than this is folded."""

NAME_WIDTH: Final = 120
"""How much of a call is shown where there is one line for it."""


def call_block(call: ToolCall) -> str:
    if steps := render.steps(call):
        return task_list(steps, explanation(call))
    if (command := render.command(call)) is not None:
        return fenced(command, "sh", fold_after=OPEN_LINES)
    if files := render.changes(call):
        return "\n\n".join(_change(call.tool, file) for file in files)
    name = f"**{escaped(render.one_line(call.tool, NAME_WIDTH))}**"
    few = render.arguments(call)
    if not call.input or (len(call.input) == 1 and len(few) <= NAME_WIDTH and "\n" not in few):
        return f"{name} {code_span(few)}".rstrip()
    pretty = msgspec.json.format(msgspec.json.encode(call.input)).decode()
    return f"{name}\n\n{fenced(pretty, 'json', fold_after=OPEN_LINES)}"


def task_list(steps: Sequence[PlanStep], why: str | None) -> str:
    # The title also keeps one list from running into the next.
    blocks = ["**Plan**", prose(why or ""), "\n".join(_task(step) for step in steps)]
    return "\n\n".join(filter(None, blocks))


def _task(step: PlanStep) -> str:
    text = inline(" ".join(clean(step.text).split()))
    box = "x" if step.status == "completed" else " "
    return f"- [{box}] {f'**{text}**' if step.status == 'in_progress' else text}"


def _change(tool: str, file: render.Change) -> str:
    title = f"**{tool}** {code_span(file.path)} ({escaped(file.kind)})"
    diff = "\n".join(file.lines)
    return f"{title}\n\n{fenced(diff, 'diff', fold_after=OPEN_LINES)}" if diff else title
