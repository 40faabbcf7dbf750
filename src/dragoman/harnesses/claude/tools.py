"""Claude's tools by the names that messages use: its own, with one alias.

The program lists the tool that starts a sub-agent as ``Task`` and calls it ``Agent``.
"""

from __future__ import annotations

from typing import Any, Final

from dragoman.model.messages import ResultStatus
from dragoman.model.tools import TASK
from dragoman.wire.loose import as_dict, as_list, as_str

_ALIASES: Final = {"Agent": TASK}
_EXIT_CODE: Final = "Exit code "
_WRAPPED: Final = ("<tool_use_error>", "</tool_use_error>")
_INTERRUPTED: Final = "interrupted"


def tool_name(native: str) -> str:
    return _ALIASES.get(native, native)


def output_text(content: Any) -> str:
    """The text of a tool result; images and other blocks are named."""
    if isinstance(content, str):
        return content.removeprefix(_WRAPPED[0]).removesuffix(_WRAPPED[1])
    parts: list[str] = []
    for block in map(as_dict, as_list(content)):
        kind = as_str(block.get("type"))
        text = as_str(block.get("text"))
        if text is not None:
            parts.append(text)
        elif kind == "tool_reference":
            parts.append(as_str(block.get("tool_name")) or "")
        elif kind is not None:
            parts.append(as_str(block.get("title")) or f"[{kind}]")
    return output_text("\n".join(parts)) if parts else ""


def exit_code(output: str, *, is_error: bool) -> int | None:
    """The exit code of a command: the first line of what a failed one printed."""
    if not is_error or not output.startswith(_EXIT_CODE):
        return None
    digits = output[len(_EXIT_CODE) :].split("\n", 1)[0]
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 9 else None


def result_status(*, is_error: bool, denial: Any, decision: Any) -> ResultStatus:
    """What became of a call, from how its permission was decided and its error flag."""
    if denial is not None and denial != _INTERRUPTED:
        return "declined"
    if as_str(as_dict(decision).get("decision")) == "reject":
        return "declined"
    return "failed" if is_error else "completed"
