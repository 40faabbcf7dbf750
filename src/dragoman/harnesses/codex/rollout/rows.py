"""The few fields of a rollout's row that show whether the file is whole."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, Final

import msgspec

from dragoman.harnesses.codex.values.loose import as_dict, as_str
from dragoman.wire.jsonl import UNREADABLE

ENDS: Final = frozenset(("task_complete", "turn_complete", "turn_aborted"))
STARTS: Final = frozenset(("task_started", "turn_started"))
_ABOUT_TURNS: Final = re.compile(
    rb'"(?:task_started|turn_started|task_complete|turn_complete|turn_aborted)"'
)
_ORDINAL: Final = re.compile(rb'(\A\s*\{\s*"timestamp"\s*:\s*"[^"]*"\s*,\s*"ordinal"\s*:\s*)(\d+)')


class RowHead(msgspec.Struct, kw_only=True, gc=False):
    """Any row."""

    timestamp: Any = None
    ordinal: Any = None
    type: Any = None
    payload: msgspec.Raw = msgspec.Raw()
    record_type: Any = None
    id: Any = None
    instructions: Any = None

    @property
    def is_header(self) -> bool:
        return self.type == "session_meta"

    @property
    def is_flat_header(self) -> bool:
        return self.type is None and isinstance(self.id, str) and isinstance(self.timestamp, str)


_decode = msgspec.json.Decoder(RowHead).decode
_decode_any = msgspec.json.Decoder().decode


def read_row(line: bytes) -> RowHead | None:
    """The row on a line; None if it is none."""
    try:
        if not line.isascii():
            line.decode()  # what is not looked at here must be readable, too
        return _decode(line)
    except UNREADABLE:
        return None


def payload_of(row: RowHead) -> dict[str, Any]:
    try:
        return as_dict(_decode_any(row.payload)) if bytes(row.payload) else {}
    except UNREADABLE:
        return {}


def turn_event(line: bytes, row: RowHead) -> dict[str, Any] | None:
    """The payload of a row that begins or ends a turn."""
    if row.type != "event_msg" or not _ABOUT_TURNS.search(line):
        return None
    payload = payload_of(row)
    return payload if as_str(payload.get("type")) in (STARTS | ENDS) else None


def moment(row: RowHead) -> datetime | None:
    """When the row was written."""
    text = as_str(row.timestamp)
    try:
        return datetime.fromisoformat(text) if text else None
    except ValueError:
        return None


def renumbered(line: bytes, ordinal: int) -> bytes:
    """The row with this ordinal, otherwise byte for byte, where that can be."""
    changed, count = _ORDINAL.subn(rb"\g<1>%d" % ordinal, line, count=1)
    if count:
        return changed
    row = as_dict(_decode_any(line))
    row.pop("ordinal", None)
    first = {"timestamp": row.pop("timestamp", None), "ordinal": ordinal}
    return msgspec.json.encode({**first, **row})
