"""Where Qwen Code keeps its chats, and which session a chat holds.

A session is ``projects/<cwd>/chats/<session-id>.jsonl``, or in ``chats/archive`` there. The sub-agents it starts have
files of their own, ``projects/<cwd>/subagents/<session-id>/agent-<agent-id>.jsonl``. Every row names its session. A fork
begins with its parent's rows under its own id, each of which says what it was copied from (``forkedFrom``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from dragoman.harnesses.contract.history import History, Origin, Place, RowNames
from dragoman.model.homes import HomeFolder
from dragoman.wire.jsonl import UNREADABLE
from dragoman.wire.loose import as_dict, as_str

_SUFFIX: Final = r"\.jsonl(?:\.gz|\.zst)?$"
_SESSION: Final = re.compile(rf"(?:^|/)chats/(?:archive/)?([A-Za-z0-9_-]+){_SUFFIX}")
_AGENT: Final = re.compile(rf"(?:^|/)subagents/([A-Za-z0-9_-]+)/agent-([\w.-]+?){_SUFFIX}")


class _OwnerRow(msgspec.Struct):
    """What a row says about whose it is. Every other part of it is left encoded."""

    sessionId: str
    parentUuid: Any
    agentId: str | None = None
    isSidechain: bool = False
    forkedFrom: Any = None


class _Payload(msgspec.Struct):
    customTitle: str
    titleSource: str | None = None


class _TitleRow(msgspec.Struct):
    systemPayload: _Payload


_row: Final = msgspec.json.Decoder(_OwnerRow).decode
_title: Final = msgspec.json.Decoder(_TitleRow).decode


def identify(path: str, first_lines: Sequence[bytes]) -> Origin | None:
    """Return the session of a chat, by its rows if there are any, or else by its path."""
    rows = [*_rows(first_lines)]
    if not rows:
        return _by_path(path.replace("\\", "/"))
    agent_id = next((row.agentId for row in rows if row.isSidechain and row.agentId), None)
    if agent_id is not None:
        return Origin(session_id=agent_id, kind="sub-agent", parent_session_id=rows[0].sessionId)
    copied = (as_str(as_dict(row.forkedFrom).get("sessionId")) for row in rows)
    parent = next(filter(None, copied), None)
    kind = "fork" if parent else None
    return Origin(session_id=rows[0].sessionId, kind=kind, parent_session_id=parent)


def _by_path(path: str) -> Origin | None:
    if found := _AGENT.search(path):
        return Origin(session_id=found[2], kind="sub-agent", parent_session_id=found[1])
    if found := _SESSION.search(path):
        return Origin(session_id=found[1])
    return None


def _rows(lines: Sequence[bytes]) -> Iterable[_OwnerRow]:
    for line in lines:
        try:
            yield _row(line)
        except UNREADABLE:
            continue


def name_in(line: bytes) -> tuple[int, str] | None:
    """Return the title in a row: the user's before one that the model has made."""
    if b'"custom_title"' not in line:
        return None
    try:
        payload = _title(line).systemPayload
    except UNREADABLE:
        return None
    return (1 if payload.titleSource == "auto" else 2), payload.customTitle


QWEN_HOME: Final = HomeFolder("QWEN_HOME", ".qwen")

QWEN_HISTORY: Final = History(
    home_folder=QWEN_HOME,
    places=(Place(folder="projects"),),
    suffixes=(".jsonl",),
    identify=identify,
    row_names=RowNames(starts=(b'{"uuid":',), name_in=name_in),
)
