"""Telling opencode's dialects apart, and from those of other programs.

| dialect | a line |
|---|---|
| opencode-json | ``{"type": "text", "timestamp", "sessionID": "ses_…", "part": {…}}`` |
| opencode-server | ``{"id": "evt_…", "type": "message.updated", "properties": {…}}``, requests and responses |
| opencode-store | ``{"opencode": "part", "row": {…}}``: a row of the database, as Dragoman copies it |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from dragoman.wire.envelope import object_on
from dragoman.wire.loose import as_dict, as_list, as_str

OUTPUT: Final = "opencode-json"
SERVER: Final = "opencode-server"
STORE: Final = "opencode-store"

_TABLES: Final = frozenset(("session", "message", "part", "todo"))
SESSION: Final = "ses_"
_EVENT: Final = "evt_"


def sniff(lines: Sequence[bytes]) -> str | None:
    """The dialect of a stream that starts with these lines; None while no line is decisive."""
    for line in lines:
        found = _dialect(object_on(line))
        if found is not None:
            return found
    return None


def settle(lines: Sequence[bytes]) -> str | None:
    """The dialect of a whole stream in which no line was decisive; None if it is none of ours."""
    for line in lines:
        value = object_on(line)
        if value.get("dir") == "meta":
            command = as_list(value.get("cmd")) or as_list(as_dict(value.get("msg")).get("cmd"))
            words = [str(word) for word in command]
            is_ours = bool(words) and words[0].rsplit("/", 1)[-1] == "opencode"
            return OUTPUT if is_ours and words[1:2] == ["run"] else None
    return None


def _dialect(value: dict[str, Any]) -> str | None:
    if "opencode" in value:
        return STORE if as_str(value["opencode"]) in _TABLES and "row" in value else None
    value = as_dict(value.get("payload")) or value
    kind = as_str(value.get("type"))
    if kind is not None and isinstance(value.get("properties"), dict):
        return SERVER if (as_str(value.get("id")) or "").startswith(_EVENT) else None
    if kind is not None and (as_str(value.get("sessionID")) or "").startswith(SESSION):
        return OUTPUT if "part" in value or "error" in value else None
    path = as_str(value.get("path")) or ""
    plain = path.partition("?")[0]
    if "method" in value and (plain == "/session" or path.startswith(f"/session/{SESSION}")):
        return SERVER
    return None
