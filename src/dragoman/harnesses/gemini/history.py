"""Where Gemini CLI keeps its chats, and which session a chat holds.

A session is ``tmp/PROJECT/chats/session-TIME-ID.jsonl``, with the first eight characters of its id; the sub-agents
that it starts have files of their own, ``tmp/PROJECT/chats/SESSION/AGENT.jsonl``. The header has the whole id. A fork
does not exist; a resumed session goes on in its file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from dragoman.harnesses.contract.history import History, Origin, Place, RowNames
from dragoman.model.homes import HomeFolder
from dragoman.wire.jsonl import UNREADABLE

_SUFFIX: Final = r"\.jsonl(?:\.gz|\.zst)?$"
_SESSION: Final = re.compile(
    rf"(?:^|/)session-\d{{4}}-\d\d-\d\dT\d\d-\d\d-([A-Za-z0-9_-]+){_SUFFIX}"
)
_AGENT: Final = re.compile(rf"(?:^|/)chats/([A-Za-z0-9_-]+)/([A-Za-z0-9_-]+){_SUFFIX}")
_SUB_AGENT: Final = "subagent"


class _ChatHeader(msgspec.Struct):
    sessionId: str
    projectHash: str
    kind: str | None = None


class _SummaryPatch(msgspec.Struct):
    summary: str | None = None


class _TitleLine(msgspec.Struct):
    patch: _SummaryPatch = msgspec.field(name="$set")


_header: Final = msgspec.json.Decoder(_ChatHeader).decode
_patch: Final = msgspec.json.Decoder(_TitleLine).decode


def identify(path: str, first_lines: Sequence[bytes]) -> Origin | None:
    """Return the session of a chat, by its header if there is one, or else by its path."""
    place = path.replace("\\", "/")
    agent = _AGENT.search(place)
    for line in first_lines:
        try:
            header = _header(line)
        except UNREADABLE:
            continue
        if header.kind == _SUB_AGENT:
            parent = agent[1] if agent is not None else None
            return Origin(session_id=header.sessionId, kind="sub-agent", parent_session_id=parent)
        return Origin(session_id=header.sessionId)
    if found := _SESSION.search(place):
        return Origin(session_id=found[1])
    if agent is not None:
        return Origin(session_id=agent[2], kind="sub-agent", parent_session_id=agent[1])
    return None


def name_in(line: bytes) -> tuple[int, str] | None:
    """Return the title in a line: the program's own summary of the session."""
    try:
        summary = _patch(line).patch.summary
    except UNREADABLE:
        return None
    if summary is None or summary.lstrip().startswith("{"):
        return None  # a sub-agent's result
    return 1, summary


GEMINI_HOME: Final = HomeFolder("GEMINI_CLI_HOME", ".gemini", below=".gemini")

GEMINI_HISTORY: Final = History(
    home_folder=GEMINI_HOME,
    places=(Place(folder="tmp"),),
    suffixes=(".jsonl",),
    identify=identify,
    row_names=RowNames(starts=(b'{"$set":{"summary"',), name_in=name_in),
)
