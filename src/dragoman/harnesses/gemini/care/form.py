"""What a chat file looks like to those who check and repair it. Gemini CLI skips every line that it cannot read."""

from __future__ import annotations

import re
from typing import Any, Final

from dragoman.harnesses.log_care.checking import LogChecker
from dragoman.harnesses.log_care.form import LogForm
from dragoman.wire.loose import as_str

_UNKNOWN_PROJECT: Final = "unknown"


def _session_in(row: dict[str, Any]) -> str | None:
    return as_str(row.get("sessionId")) if as_str(row.get("projectHash")) is not None else None


def _header(session_id: str) -> dict[str, Any]:
    return {
        "sessionId": session_id,
        "projectHash": _UNKNOWN_PROJECT,
        "startTime": "1970-01-01T00:00:00.000Z",
        "lastUpdated": "1970-01-01T00:00:00.000Z",
        "kind": "main",
    }


CHAT_FORM: Final = LogForm(
    session_in=_session_in,
    header=_header,
    begins=re.compile(r'\{"(?:sessionId|\$set|\$rewindTo|id)"\s*:'),
)


def make_checker() -> LogChecker:
    return LogChecker(CHAT_FORM)
