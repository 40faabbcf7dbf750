"""Recover what is left of a damaged line: whole rows between the damage, and a row that was cut off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import msgspec

from dragoman.harnesses.codex.rollout.rows import payload_of, read_row
from dragoman.harnesses.codex.values.loose import as_dict, as_str
from dragoman.wire.jsonl import UNREADABLE

_NULS: Final = re.compile(rb"\0+")
_ROW_BEGINS: Final = re.compile(rb'\{"timestamp"\s*:')
_MARKS: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)
"""Strings, whole, and brackets outside of them."""
_HALF_ESCAPE: Final = re.compile(rb"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_TEXT_ROWS: Final = frozenset(
    (
        ("response_item", "message"),
        ("response_item", "function_call_output"),
        ("response_item", "custom_tool_call_output"),
        ("event_msg", "user_message"),
        ("event_msg", "agent_message"),
        ("event_msg", "agent_reasoning"),
    )
)
"""Rows that keep their meaning when their text is cut off. Half a call is not a call."""
_TEXT_ITEMS: Final = frozenset(("UserMessage", "AgentMessage", "Reasoning"))
_decode = msgspec.json.Decoder().decode


class Saved(NamedTuple):
    """A piece of a damaged line."""

    row: bytes | None
    """The row; None for what cannot be recovered."""
    raw: bytes
    is_completed: bool = False
    """Whether the row was cut off and is closed here."""


def salvage(line: bytes) -> Iterator[Saved]:
    """Yield the pieces of a line that is not JSON, in order."""
    for part in _NULS.split(line.rstrip(b"\r\n")):
        if part.strip():
            yield from _rows_in(part.strip())


def _rows_in(part: bytes) -> Iterator[Saved]:
    """Yield rows without the newline between them, and what is between them."""
    at = 0
    for found in _ROW_BEGINS.finditer(part):
        start = found.start()
        end = _end_of(part, start) if start >= at else None  # or a text quotes a row
        if end is None or not _is_row(part[start:end]):
            continue
        if part[at:start].strip():
            yield Saved(None, part[at:start])
        yield Saved(part[start:end], part[start:end])
        at = end
    rest = part[at:]
    if rest.strip():
        closed = completed(rest.strip())
        yield Saved(closed, rest, is_completed=closed is not None)


def _end_of(data: bytes, start: int) -> int | None:
    """Return the end of the object that starts at ``start``; None if it has none."""
    depth = 0
    for found in _MARKS.finditer(data, start):
        mark = found[0]
        if mark in b"{[":
            depth += 1
        elif mark in b"}]":
            depth -= 1
            if depth == 0:
                return found.end()
    return None


def _is_row(data: bytes) -> bool:
    row = read_row(data)
    return row is not None and isinstance(row.type, str) and bytes(row.payload) != b""


def completed(data: bytes) -> bytes | None:
    """Return a row that was cut off in the middle of a text, closed; None if that has no meaning."""
    if not _ROW_BEGINS.match(data):
        return None
    for candidate in _closings(data):
        try:
            _decode(candidate)
        except UNREADABLE:
            continue
        row = read_row(candidate)
        if row is None:
            return None
        payload = payload_of(row)
        kind = (as_str(row.type) or "", as_str(payload.get("type")) or "")
        item = as_str(as_dict(payload.get("item")).get("type"))
        is_text = kind in _TEXT_ROWS or (kind[1] == "item_completed" and item in _TEXT_ITEMS)
        return candidate if is_text and _says_something(payload) else None
    return None


def _says_something(payload: dict[str, Any]) -> bool:
    item = as_dict(payload.get("item"))
    return any(
        given.get(name)
        for given in (payload, item)
        for name in ("content", "message", "text", "output", "summary_text")
    )


def _closings(data: bytes) -> Iterator[bytes]:
    """Yield the data with its open strings and brackets closed, in every way that may be right."""
    closers, in_string = _open_in(data)
    if in_string:
        data = _HALF_ESCAPE.sub(b"", data)
        data = data.decode("utf-8", "ignore").encode() + b'"'
    tail = bytes(reversed(closers))
    bare = data.rstrip(b" \t\r\n")
    yield bare + tail
    yield bare + b":null" + tail
    yield bare + b"null" + tail
    yield bare.rstrip(b",") + tail


def _open_in(data: bytes) -> tuple[list[int], bool]:
    """Return the brackets that close what is open, outermost first, and whether a string is open."""
    closers: list[int] = []
    in_string = is_escaped = False
    for byte in data:
        if is_escaped:
            is_escaped = False
        elif in_string:
            is_escaped = byte == 0x5C
            in_string = byte != 0x22
        elif byte == 0x22:
            in_string = True
        elif byte in b"{[":
            closers.append(0x7D if byte == 0x7B else 0x5D)
        elif byte in b"}]" and closers:
            closers.pop()
    return closers, in_string
