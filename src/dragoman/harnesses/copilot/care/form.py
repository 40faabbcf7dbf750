"""What a session file looks like to those who check and repair it."""

from __future__ import annotations

import re
from typing import Any, Final

from dragoman.harnesses.log_care.checking import LogChecker
from dragoman.harnesses.log_care.form import LogForm
from dragoman.wire.loose import as_dict, as_str

_BEGINNING: Final = "1970-01-01T00:00:00.000Z"


def _session_in(row: dict[str, Any]) -> str | None:
    is_start = row.get("type") == "session.start"
    return as_str(as_dict(row.get("data")).get("sessionId")) if is_start else None


def _header(session_id: str) -> dict[str, Any]:
    data = {
        "sessionId": session_id,
        "version": 1,
        "producer": "copilot-agent",
        "copilotVersion": "0.0.0",
        "startTime": _BEGINNING,
    }
    return {
        "type": "session.start",
        "data": data,
        "id": session_id,
        "timestamp": _BEGINNING,
        "parentId": None,
    }


EVENTS_FORM: Final = LogForm(
    session_in=_session_in, header=_header, begins=re.compile(r'\{"type"\s*:\s*"[a-z_]+\.')
)


def make_checker() -> LogChecker:
    return LogChecker(EVENTS_FORM)
