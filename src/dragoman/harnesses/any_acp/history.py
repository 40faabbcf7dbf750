"""Where the sessions of ACP agents are kept: by us, because each agent keeps its own in its own way, or not at all.

A file is the journal of one process, line by line in both directions. The first prompt of a process names the agent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from dragoman.harnesses.contract.history import History, Origin, Place, RowNames
from dragoman.model.homes import HomeFolder
from dragoman.wire.directions import unwrap
from dragoman.wire.jsonl import UNREADABLE
from dragoman.wire.loose import as_dict, as_list, as_str

_PROMPT: Final = b'"session/prompt"'
_TITLE: Final = b'"session_info_update"'
_LONGEST: Final = 120


class _AcpRow(msgspec.Struct):
    method: Any = None
    params: Any = None
    result: Any = None


_row: Final = msgspec.json.Decoder(_AcpRow).decode


def identify(path: str, first_lines: Sequence[bytes]) -> Origin | None:
    """Return the session that the first lines open; a fork is opened by naming its parent."""
    forked: str | None = None
    for line in first_lines:
        row = _read(line)
        if row is None:
            continue
        given = as_str(as_dict(row.params).get("sessionId"))
        if row.method == "session/fork":
            forked = given
        elif (session_id := as_str(as_dict(row.result).get("sessionId")) or given) is not None:
            return Origin(
                session_id=session_id,
                kind="fork" if forked is not None else None,
                parent_session_id=forked,
            )
    return None


def name_in(line: bytes) -> tuple[int, str] | None:
    """Return the agent and its first prompt, or the title that the agent itself gives."""
    if _PROMPT not in line and _TITLE not in line:
        return None
    row = _read(line)
    params = as_dict(row.params) if row is not None else {}
    if row is not None and row.method == "session/prompt":
        agent = as_str(as_dict(as_dict(params.get("_meta")).get("dragoman")).get("agent"))
        blocks = [as_dict(each) for each in as_list(params.get("prompt"))]
        text = next((said for each in blocks if (said := as_str(each.get("text")))), "")
        first = text.strip().partition("\n")[0][:_LONGEST]
        return (1, f"{agent}: {first}") if agent is not None else None
    update = as_dict(params.get("update"))
    title = as_str(update.get("title"))
    return (2, title) if title and update.get("sessionUpdate") == "session_info_update" else None


def _read(line: bytes) -> _AcpRow | None:
    try:
        return _row(unwrap(line).line)
    except UNREADABLE:
        return None


ACP_HISTORY: Final = History(
    home_folder=HomeFolder("XDG_DATA_HOME", ".local/share/dragoman", "dragoman"),
    places=(Place(folder="acp/sessions"),),
    suffixes=(".jsonl",),
    identify=identify,
    row_names=RowNames(starts=(b'{"dir":"send"', b'{"dir":"recv"'), name_in=name_in),
    journals=True,
)
