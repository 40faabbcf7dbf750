"""Where Claude Code keeps its transcripts, and which session a transcript holds.

A session is ``projects/<cwd>/<session-id>.jsonl``; the sub-agents it starts have files of their own,
``<session-id>/subagents/agent-<agent-id>.jsonl``, whose rows name the session as well. The first rows
are bookkeeping, so a session is identified by all first rows together. A fork copies its parent's rows
under its own id. Its copied responses still name the session that asked for them (``requestSessionId``);
a branch names the session that it was branched from (``forkedFrom``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from dragoman.harnesses.contract.history import History, Origin, Place, RowNames, no_limits
from dragoman.model.homes import HomeFolder
from dragoman.wire.jsonl import UNREADABLE
from dragoman.wire.loose import as_dict, as_str

_UUID: Final = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_SESSION: Final = re.compile(rf"(?:^|/)({_UUID})\.jsonl(?:\.gz|\.zst)?$")
_AGENT: Final = re.compile(
    rf"(?:^|/)(?:({_UUID})/subagents/(?:[^/]+/)*)?agent-([\w-]+)\.jsonl(?:\.gz|\.zst)?$"
)


class _Row(msgspec.Struct):
    """What a row says about whose it is. Every other part of it is left encoded."""

    sessionId: str | None = None
    agentId: str | None = None
    isSidechain: bool = False
    requestSessionId: str | None = None
    forkedFrom: Any = None
    handedOffFrom: Any = None
    type: Any = None


class _Title(msgspec.Struct):
    customTitle: str | None = None
    aiTitle: str | None = None
    summary: str | None = None


_row: Final = msgspec.json.Decoder(_Row).decode
_title: Final = msgspec.json.Decoder(_Title).decode


def identify(path: str, first_lines: Sequence[bytes]) -> Origin | None:
    """Return the session of a transcript, by its rows if there are any, or else by its path."""
    by_path = _by_path(path.replace("\\", "/"))
    rows = [row for row in _rows(first_lines) if row.sessionId]
    if not rows:
        return by_path
    agent_id = next((row.agentId for row in rows if row.isSidechain and row.agentId), None)
    if agent_id is not None:
        return Origin(session_id=agent_id, kind="sub-agent", parent_session_id=rows[-1].sessionId)
    ids = [row.sessionId for row in rows if row.sessionId]
    # Rows of other sessions may have been copied in unchanged: the file's own session is in its name.
    session_id = by_path.session_id if by_path is not None and by_path.session_id in ids else ids[0]
    parent = _parent(rows, session_id)
    if parent is None and (source := _handed_off_from(rows)) is not None:
        return Origin(session_id=session_id, kind="hand-off", parent_session_id=source)
    return Origin(session_id=session_id, kind="fork" if parent else None, parent_session_id=parent)


def _by_path(path: str) -> Origin | None:
    if found := _AGENT.search(path):
        return Origin(session_id=found[2], kind="sub-agent", parent_session_id=found[1])
    if found := _SESSION.search(path):
        return Origin(session_id=found[1])
    return None


def _rows(lines: Sequence[bytes]) -> Iterable[_Row]:
    for line in lines:
        try:
            yield _row(line)
        except UNREADABLE:
            continue


def _parent(rows: Sequence[_Row], session_id: str) -> str | None:
    """Return the session that these rows were copied from: the nearest one, if there are several."""
    for row in reversed(rows):
        forked_from = as_str(as_dict(row.forkedFrom).get("sessionId"))
        for named in (forked_from, row.requestSessionId):
            if named and named != session_id:
                return named
    return None


def _handed_off_from(rows: Sequence[_Row]) -> str | None:
    """Return the session that Dragoman has handed off to this one."""
    return next(
        (as_str(as_dict(row.handedOffFrom).get("sessionId")) for row in rows if row.handedOffFrom),
        None,
    )


def name_in(line: bytes) -> tuple[int, str] | None:
    """Return the title in a row: the user's before the model's, and both before a summary."""
    try:
        row = _title(line)
    except UNREADABLE:
        return None
    for rank, title in ((3, row.customTitle), (2, row.aiTitle), (1, row.summary)):
        if title is not None:
            return rank, title
    return None


CLAUDE_HOME: Final = HomeFolder("CLAUDE_CONFIG_DIR", ".claude")

CLAUDE_HISTORY: Final = History(
    home_folder=CLAUDE_HOME,
    places=(Place(folder="projects"),),
    suffixes=(".jsonl",),
    identify=identify,
    row_names=RowNames(
        starts=(b'{"type":"custom-title"', b'{"type":"ai-title"', b'{"type":"summary"'),
        name_in=name_in,
    ),
    newest_limits=no_limits,
)
