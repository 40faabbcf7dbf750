"""Where Copilot keeps its sessions, and which session a file holds.

A session is ``session-state/<session-id>/events.jsonl``, with its sub-agents in the same file. Next to it are the files
of the workspace, checkpoints and an index, which hold nothing of the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from dragoman.harnesses.contract.history import History, Origin, Place
from dragoman.model.homes import HomeFolder
from dragoman.wire.jsonl import UNREADABLE
from dragoman.wire.loose import as_dict, as_str

_PATH: Final = re.compile(r"(?:^|/)session-state/([^/]+)/events\.jsonl(?:\.gz|\.zst)?$")
_SUFFIX: Final = "events.jsonl"


class _FirstEvent(msgspec.Struct):
    """What the first event says about whose file it is."""

    type: str
    data: Any = None


_row: Final = msgspec.json.Decoder(_FirstEvent).decode


def identify(path: str, first_lines: Sequence[bytes]) -> Origin | None:
    """The session that the first event names, or else the folder's."""
    found = _PATH.search(path.replace("\\", "/"))
    for line in first_lines:
        try:
            row = _row(line)
        except UNREADABLE:
            continue
        data = as_dict(row.data)
        if row.type == "session.start" and (name := as_str(data.get("sessionId"))):
            parent = as_str(data.get("detachedFromSpawningParentSessionId"))
            return Origin(
                session_id=name, kind="fork" if parent else None, parent_session_id=parent
            )
    return Origin(session_id=found[1]) if found is not None else None


COPILOT_HOME: Final = HomeFolder("COPILOT_HOME", ".copilot")

COPILOT_HISTORY: Final = History(
    home_folder=COPILOT_HOME,
    places=(Place(folder="session-state"),),
    suffixes=(_SUFFIX,),
    identify=identify,
)
