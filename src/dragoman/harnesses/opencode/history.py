"""Where opencode keeps its sessions, and which session the rows of a copy hold.

Sessions are rows of one database, ``opencode.db``. Dragoman copies the rows of each session to a file of lines in its
own cache, ``<session-id>.jsonl``, and reads that. A sub-agent's session has a parent; a fork's rows are copies, under
new ids, of messages that are older than the session.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from dragoman.harnesses.contract.history import History, Origin, SessionDatabase
from dragoman.model.homes import HomeFolder
from dragoman.wire.jsonl import UNREADABLE
from dragoman.wire.loose import as_str

_NAME: Final = re.compile(r"(?:^|/)(ses_\w+)\.jsonl(?:\.gz|\.zst)?$")


class _FirstRow(msgspec.Struct):
    opencode: str
    row: dict[str, Any]


_line: Final = msgspec.json.Decoder(_FirstRow).decode


def identify(path: str, first_lines: Sequence[bytes]) -> Origin | None:
    """The session of the first row, or else the one in the file's name."""
    found = _NAME.search(path.replace("\\", "/"))
    for each in first_lines:
        try:
            line = _line(each)
        except UNREADABLE:
            continue
        name = as_str(line.row.get("id"))
        if line.opencode == "session" and name is not None:
            parent = as_str(line.row.get("parent_id"))
            return Origin(
                session_id=name, kind="sub-agent" if parent else None, parent_session_id=parent
            )
    return Origin(session_id=found[1]) if found is not None else None


OPENCODE_HOME: Final = HomeFolder("XDG_DATA_HOME", ".local/share/opencode", "opencode")

OPENCODE_HISTORY: Final = History(
    home_folder=OPENCODE_HOME,
    places=(),
    suffixes=(".jsonl",),
    identify=identify,
    database=SessionDatabase(file="opencode.db"),
)
