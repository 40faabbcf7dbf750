"""What a call came to: its output and its exit code, wherever an agent puts them."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from dragoman.harnesses.acp.tools import block_text, texts_of
from dragoman.wire.loose import as_dict, as_int, as_list, as_str

_SHELL_ENDED: Final = re.compile(r"\n?<shellId: \S+ completed with exit code (-?\d{1,9})>\s*\Z")
_FIRST_LINE: Final = re.compile(r"\AExit code (-?\d{1,9})(?:\n|\Z)")
_TABLE: Final = re.compile(r"^Exit Code: (-?\d{1,9})$", re.MULTILINE)
_TABLE_OUTPUT: Final = re.compile(r"^Output: (.*?)\nError: ", re.MULTILINE | re.DOTALL)


class CallOutput(NamedTuple):
    """The end of a call."""

    text: str
    exit_code: int | None


class TerminalNews(NamedTuple):
    """What an update says about a command in the agent's own terminal."""

    text: str
    exit_code: int | None


def terminal_news(update: dict[str, Any]) -> TerminalNews:
    """New output and the exit code, which an agent gives a client without terminals aside (codex-acp)."""
    meta = as_dict(update.get("_meta"))
    new = as_dict(meta.get("terminal_output_delta") or meta.get("terminal_output"))
    code = as_int(as_dict(meta.get("terminal_exit")).get("exit_code"))
    return TerminalNews(as_str(new.get("data")) or "", code)


def agents_said(given: Any) -> str:
    """What a call about sub-agents came to, where its input says so at the end: their last words, else their ids."""
    agents = as_list(as_dict(given).get("receiverThreadIds"))
    states = [as_dict(each) for each in as_dict(as_dict(given).get("agentsStates")).values()]
    words = [said for each in states if (said := as_str(each.get("message")))]
    return "\n".join(words or map(str, agents))


def output_of(raw: Any, content: list[Any], *, is_command: bool) -> CallOutput:
    """The output and the exit code, from ``rawOutput`` where it says something, else from the content."""
    text = _raw_text(raw)
    if not text:
        text = "\n".join(texts_of(content))
    code = _raw_code(as_dict(raw))
    if not is_command:
        return CallOutput(text, code)
    if found := _SHELL_ENDED.search(text):
        text = text[: found.start()]
        if text and not text.endswith("\n"):
            text += "\n"
    found = found or _FIRST_LINE.match(text) or _TABLE.search(text)
    if shown := _TABLE_OUTPUT.search(text):
        text = shown[1]
    return CallOutput(text, code if code is not None else int(found[1]) if found else None)


def _raw_text(raw: Any) -> str:
    if isinstance(raw, str):
        return raw
    if isinstance(raw, list):
        return "\n".join(filter(None, (block_text(as_dict(each)) for each in as_list(raw))))
    given = as_dict(raw)
    for key in (
        "output",
        "aggregated_output",
        "formatted_output",
        "content",
        "text",
        "error",
        "stdout",
    ):
        if isinstance(text := given.get(key), str) and text:
            return text
    if isinstance(inner := given.get("result"), dict):
        return _raw_text(as_dict(inner).get("content"))  # the answer of an MCP server
    message = as_dict(given.get("error")).get("message")
    return as_str(message) or ""


def _raw_code(raw: dict[str, Any]) -> int | None:
    for code in (
        raw.get("exitCode"),
        raw.get("exit_code"),
        as_dict(raw.get("metadata")).get("exit"),
        *(as_dict(each).get("exitCode") for each in as_list(raw.get("contents"))),
    ):
        if (number := as_int(code)) is not None:
            return number
    return None
