"""Tool calls as cards: a title, the output below it, and a closing line.

::

    $ python -m pytest -q
      │ 1 failed in 0.12s
      └ exit 1 · 0.4 s
"""

from __future__ import annotations

from typing import Final

from dragoman.cli.live import diffs
from dragoman.cli.live.cells import clip, counted, duration, printed, tidy, wrap
from dragoman.cli.live.ink import GUTTER, Hue, Ink
from dragoman.model import tools
from dragoman.model.messages import ToolCall, ToolResult
from dragoman.rendering import render

COMMAND_LINES: Final = 6
OUTPUT_HEAD, OUTPUT_TAIL = 4, 8
LIVE_LINES: Final = 6
DIFF_LINES: Final = 60
OTHER_LINES: Final = 4
_TAIL_CHARACTERS: Final = 16_384

_LABELS: Final = {
    tools.WEB_SEARCH: ("Search", "Searching the web"),
    tools.WEB_FETCH: ("Fetch", "Fetching a page"),
    tools.TASK: ("Sub-agent", "Starting a sub-agent"),
    tools.TASK_OUTPUT: ("Sub-agent", "Waiting for a sub-agent"),
    tools.SEND_MESSAGE: ("Sub-agent", "Messaging a sub-agent"),
    tools.BASH_OUTPUT: ("Command", "Waiting for a command"),
    tools.READ: ("Read", "Reading"),
    tools.ASK_USER: ("Question", "Asking you"),
}


class Card:
    """One tool call, from start to end."""

    def __init__(self, call: ToolCall, ink: Ink, began: float, root: str | None = None) -> None:
        self.call = call
        self.began = began
        self._ink = ink
        self._root = root
        self._command = render.command(call)
        self._changes = render.changes(call)
        self._steps = render.steps(call)
        self._output = ""
        self.was_shown = False
        """Whether the approval request already showed the change."""

    @property
    def is_plan(self) -> bool:
        """Whether the call only updates the plan, which is shown instead."""
        return bool(self._steps)

    def add_output(self, output: str) -> None:
        """Append output of a running command."""
        self._output = (self._output + output)[-_TAIL_CHARACTERS:]

    def activity(self) -> str:
        """A short phrase for the spinner."""
        if self._command is not None:
            return f"Running {render.one_line(self._command, 60)}"
        if self._changes:
            first = self._changes[0].path
            path = first.removeprefix(f"{self._root}/") if self._root else first
            return f"Editing {render.one_line(path, 60)}"
        if self.call.tool in _LABELS:
            return _LABELS[self.call.tool][1]
        return f"Calling {_name(self.call)}"

    def running(self, width: int, now: float, lines: int = LIVE_LINES) -> list[str]:
        """The rows of the card while the call runs."""
        rows = self._title(width)
        if self._changes:
            return rows
        said = [line for line in printed(self._output).split("\n") if line.strip()]
        rows += [self._ink.gutter(clip(line, width - len(GUTTER)), "dim") for line in said[-lines:]]
        if self._command is not None and now - self.began >= 2:
            rows.append(self._ink.last(duration(now - self.began), "dim"))
        return rows

    def ended(self, result: ToolResult, width: int, now: float | None) -> list[str]:
        """The rows of the card when the call has ended."""
        rows = self._title(width)
        if self._changes and not self._command:
            rows += [] if self.was_shown else self._edited(width)
            trouble = render.trouble(result)
            rows += self._told(result.output, width, OTHER_LINES) if trouble else []
        elif self._command is not None:
            rows += self._told(result.output or self._output, width, OUTPUT_HEAD + OUTPUT_TAIL)
        else:
            rows += self._told(result.output, width, OTHER_LINES)
        return rows + self._closing(result, now)

    def _title(self, width: int) -> list[str]:
        if self._command is not None:
            lines = tidy(self._command.strip("\r\n")).split("\n")
            rows = [row for line in lines for row in wrap(line, width - 2)]
            beyond = len(rows) - COMMAND_LINES
            rows = rows[:COMMAND_LINES]
            first = self._ink("$ ", "cyan", "bold") + self._ink(rows[0], "bold")
            rest = [f"  {self._ink(row, 'bold')}" for row in rows[1:]]
            if beyond > 0:
                rest.append("  " + self._ink(f"… {counted(beyond, 'more line')}", "dim"))
            return [first, *rest]
        if self._changes:
            if len(self._changes) == 1:
                return [diffs.title(self._changes[0], self._ink, width, self._root)]
            return []
        label, text = _name(self.call), render.one_line(render.arguments(self.call), 4 * width)
        room = max(8, width - len(label) - 4)
        mark = self._ink("▸ ", "cyan", "bold") + self._ink(label, "bold")
        return [f"{mark}  {clip(text, room)}" if text else mark]

    def _edited(self, width: int) -> list[str]:
        if len(self._changes) == 1:
            return diffs.body(self._changes[0], self._ink, width, DIFF_LINES)
        rows: list[str] = []
        share = max(6, DIFF_LINES // len(self._changes))
        for change in self._changes:
            rows.append(diffs.title(change, self._ink, width, self._root))
            rows += diffs.body(change, self._ink, width, share)
        return rows

    def _told(self, text: str, width: int, most: int) -> list[str]:
        """The first and last lines of a tool's output."""
        lines = printed(text).strip("\n").split("\n")
        if lines == [""]:
            return []
        room = width - len(GUTTER)
        if len(lines) <= most:
            return [self._ink.gutter(clip(line, room)) for line in lines]
        head = most // 3
        kept = lines[:head] + lines[head - most + 1 :]
        rows = [self._ink.gutter(clip(line, room)) for line in kept]
        left_out = f"… {counted(len(lines) - len(kept), 'more line')}"
        rows.insert(head, self._ink.gutter(left_out, "dim"))
        return rows

    def _closing(self, result: ToolResult, now: float | None) -> list[str]:
        took: list[str] = []
        if self._command is not None or result.duration_ms:
            if result.duration_ms is not None:
                took = [duration(result.duration_ms / 1000)]
            elif now is not None and now - self.began >= 0.05:
                took = [duration(now - self.began)]
        trouble = render.trouble(result)
        hue: Hue = "red" if trouble and result.status != "declined" else "dim"
        if trouble is None and self._command is not None:
            return [self._ink.last(" ".join(["✓", *took]), "green")] if took else []
        if trouble is None:
            return []
        return [self._ink.last(" · ".join([f"✗ {trouble}", *took]), hue)]


def _name(call: ToolCall) -> str:
    if call.tool in _LABELS:
        return _LABELS[call.tool][0]
    if call.tool.startswith("mcp__"):
        server, _, tool = call.tool.removeprefix("mcp__").partition("__")
        return render.one_line(f"{server}.{tool}" if tool else server, 60)
    return render.one_line(call.tool, 60)
