"""Shared by the transcripts for people: harmless text, and the common shapes of tool input.

Tool input comes from a model and may be anything. Input that fits one of the shapes below is shown nicely; any
other input is shown as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

import msgspec

from dragoman.model import tools
from dragoman.model.messages import PlanStep, SessionStarted, ToolCall, ToolResult
from dragoman.model.usage import Usage
from dragoman.rendering.harmless import flat, harmless

_Shape = TypeVar("_Shape", bound=msgspec.Struct)


def head(text: str, limit: int) -> tuple[list[str], int]:
    """The first lines of a text, harmless, and how many there are beyond them."""
    text = text.rstrip("\r\n")
    if not text:
        return [], 0
    lines = text.split("\n", limit)
    more = lines.pop().count("\n") + 1 if len(lines) > limit else 0
    return [harmless(line.removesuffix("\r")) for line in lines], more


def clip(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(0, width - 1)] + "…"


def one_line(text: str, width: int) -> str:
    """A text of any length in at most ``width`` characters of one line, harmless."""
    # No more of it is looked at than could be shown: some inputs are whole files.
    return clip(" ".join(harmless(text[: 4 * width]).split()), width)


@dataclass(frozen=True, slots=True)
class Change:
    """What an edit does to one file."""

    path: str
    kind: str
    lines: list[str]
    """The change as lines of a diff, harmless; empty if the harness does not report it."""


class _FileChange(msgspec.Struct):
    path: str
    kind: str = "update"
    diff: str | None = None
    move_path: str | None = None


class _Replacement(msgspec.Struct):
    old_string: str
    new_string: str


class _EditInput(msgspec.Struct):
    changes: list[_FileChange] = []
    file_path: str | None = None
    old_string: str | None = None
    new_string: str | None = None
    content: str | None = None
    edits: list[_Replacement] = []


class _BashInput(msgspec.Struct):
    command: str | list[str]


class _Todo(msgspec.Struct):
    status: str
    content: str | None = None
    step: str | None = None


class _TodoInput(msgspec.Struct):
    todos: list[_Todo] = []
    plan: list[_Todo] = []


def changes(call: ToolCall) -> list[Change]:
    """What an edit changes, file by file; empty for a call that is not one."""
    if call.tool not in (tools.EDIT, tools.WRITE, "MultiEdit"):
        return []
    shape = _shaped(call, _EditInput)
    if shape is None:
        return []
    if shape.changes:
        return [_change(each) for each in shape.changes]
    if shape.file_path is None:
        return []
    if shape.content is not None:
        return [Change(flat(shape.file_path), "write", _signed("+", shape.content))]
    replaced = [(each.old_string, each.new_string) for each in shape.edits]
    if not replaced:
        replaced = [(shape.old_string or "", shape.new_string or "")]
    lines = [line for old, new in replaced for line in (*_signed("-", old), *_signed("+", new))]
    return [Change(flat(shape.file_path), "update", lines)]


def command(call: ToolCall) -> str | None:
    """The command of a call that runs one."""
    shape = _shaped(call, _BashInput) if call.tool == tools.BASH else None
    if shape is None:
        return None
    return shape.command if isinstance(shape.command, str) else " ".join(shape.command)


def steps(call: ToolCall) -> list[PlanStep]:
    """The steps of a call that writes down a plan."""
    shape = _shaped(call, _TodoInput) if call.tool == tools.TODO_WRITE else None
    if shape is None:
        return []
    return [
        PlanStep(
            each.content or each.step or "",
            each.status if each.status in ("completed", "in_progress") else "pending",
        )
        for each in shape.todos or shape.plan
    ]


def arguments(call: ToolCall) -> str:
    """The input of any call in few words: ``main.py``, or ``path=main.py, limit=20``."""
    values = {
        name: value if isinstance(value, str) else msgspec.json.encode(value).decode()
        for name, value in call.input.items()
    }
    if len(values) == 1:
        return next(iter(values.values()))
    return ", ".join(f"{name}={value}" for name, value in values.items())


def summary(call: ToolCall, width: int) -> str:
    """A call in one line, for where there is no room to show it whole."""
    if (text := command(call)) is not None:
        return one_line(f"$ {text}", width)
    if files := changes(call):
        return one_line("± " + ", ".join(each.path for each in files), width)
    name = one_line(call.tool, width)
    return f"{name}({one_line(arguments(call), max(8, width - len(name) - 2))})"


def trouble(result: ToolResult) -> str | None:
    """The problem with a call in a word or two; none if there was none."""
    if result.status in ("declined", "abandoned"):
        return result.status
    if not result.is_error and result.status == "completed":
        return None
    return "failed" if result.exit_code is None else f"exit {result.exit_code}"


def session(message: SessionStarted) -> list[str]:
    """The known facts about a session: program and version, model, directory."""
    program = " ".join(filter(None, (message.harness, message.version)))
    return [flat(each) for each in (program, message.model, message.cwd) if each]


def image(address: str) -> str:
    """An image in a few words, without its bytes."""
    if not address.startswith("data:"):
        return f"[image: {flat(address)}]"
    kind, _, data = address.removeprefix("data:").partition(",")
    return f"[image: {one_line(kind.removesuffix(';base64'), 60)}, {len(data):,} characters]"


def spent(usage: Usage) -> str:
    cached = f" ({usage.cached_input_tokens:,} cached)" if usage.cached_input_tokens else ""
    return f"{usage.input_tokens:,} in{cached} · {usage.output_tokens:,} out"


def elapsed(since: datetime | None, until: datetime | None) -> str | None:
    """The time between two moments: ``4.2 s``, ``3 min 05 s``; none if either is unknown."""
    if since is None or until is None or until < since:
        return None
    seconds = (until - since).total_seconds()
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes} min {seconds:02} s"


def _change(change: _FileChange) -> Change:
    path = flat(change.path)
    if change.move_path:
        path = f"{path} → {flat(change.move_path)}"
    diff = change.diff or ""
    match change.kind:
        case "add":
            lines = _signed("+", diff)
        case "delete":
            lines = _signed("-", diff)
        case _:
            lines = harmless(diff.rstrip("\n")).split("\n") if diff else []
    return Change(path, flat(change.kind), lines)


def _signed(sign: str, text: str) -> list[str]:
    text = text.removesuffix("\n")
    return [sign + line for line in harmless(text).split("\n")] if text else []


def _shaped(call: ToolCall, shape: type[_Shape]) -> _Shape | None:
    try:
        return msgspec.convert(call.input, shape)
    except msgspec.ValidationError:
        return None
