"""A call as another record of the same session has it."""

from __future__ import annotations

from typing import Any, NamedTuple

from dragoman.model.messages import ResultStatus
from dragoman.model.usage import Usage


class CallRecord(NamedTuple):
    """A call that is over, as a session's file has it."""

    call_id: str
    tool: str
    native: str
    input: dict[str, Any]
    output: str
    is_error: bool
    exit_code: int | None
    status: ResultStatus


class ResponseTokens(NamedTuple):
    """What one model response has spent."""

    usage: Usage
    response_id: str | None
    model: str | None
