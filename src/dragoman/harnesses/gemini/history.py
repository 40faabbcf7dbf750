"""Where Gemini CLI keeps its chats, and which session a chat holds.

A session is ``tmp/PROJECT/chats/session-TIME-ID.jsonl``, with the first eight characters of its id; the sub-agents
that it starts have files of their own, ``tmp/PROJECT/chats/SESSION/AGENT.jsonl``. The header has the whole id. A fork
does not exist; a resumed session goes on in its file.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec

from dragoman.harnesses.contract.history import History, Origin, Place, RowNames
from dragoman.harnesses.contract.session_files import SessionFiles
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


# While it works.

_MINUTE: Final = re.compile(r"^session-(\d{4}-\d\d-\d\dT\d\d-\d\d)-")
_OPENED: Final = re.compile(rb'"result":\{"sessionId":"([\w-]{8,64})"')


def _files_of(env: Mapping[str, str], session_id: str) -> str:
    """The chat files of a session. Which project's folder they are in only Gemini knows."""
    tmp = f"{glob.escape(GEMINI_HOME.path(env))}/tmp"
    return f"{tmp}/*/chats/session-*-{glob.escape(session_id[:8])}.jsonl"


def _agents_of(path: str, session_id: str) -> str:
    folder = re.split(r"[/\\](?=[^/\\]*$)", path)[0]
    return f"{glob.escape(folder)}/{glob.escape(session_id)}/*.jsonl"


def _session_in(line: bytes) -> str | None:
    found = _OPENED.search(line[:200])
    return found[1].decode() if found is not None else None


def _resume_pause(names: Sequence[str], now: float) -> float:
    """Until the minute is over in which the session began: a second process names its file by the minute, too, and
    would write over the first one's."""
    minutes = [found[1] for name in names if (found := _MINUTE.match(name)) is not None]
    current = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H-%M")
    return 61 - now % 60 if minutes and min(minutes) >= current else 0.0


GEMINI_FILES: Final = SessionFiles(
    pattern=_files_of,
    agents=_agents_of,
    session_in=_session_in,
    resume_pause=_resume_pause,
    resume_reason="Gemini CLI loses a session that is resumed in the minute in which it began",
)
