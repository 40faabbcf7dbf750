"""Why a turn failed, in the kinds that orchestrators act on.

Qwen Code has one sentence for a request that failed, ``[API Error: 429 Rate limit reached.]``, which it also appends
to what the agent has said. The kinds are those of every harness: ``response_error`` for a request that was refused
and will be again, ``turn_failed`` for the rest.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from dragoman.model.messages import TurnError

RESPONSE_ERROR: Final = "response_error"
TURN_FAILED: Final = "turn_failed"
CANCELLED: Final = "Operation cancelled."
"""The error of a turn that was interrupted."""

_API_ERROR: Final = re.compile(r"\[API Error: (.*)\](?:\n([^\[\]]*))?\Z", re.DOTALL)
"""The error, and a hint for people that may follow it."""
_STATUS: Final = re.compile(r"(\d{3})(?: status code)?\b")
_REFUSED: Final = frozenset((400, 401, 403, 404, 413, 422))
_FINAL: Final = re.compile(r"session turns|maximum|budget|loop detected|max-", re.IGNORECASE)


class TakenApart(NamedTuple):
    """What a line says, taken apart."""

    text: str
    error: str | None
    hint: str | None = None


def taken_apart(text: str) -> TakenApart:
    """What the agent said, and the error that was appended to it."""
    found = _API_ERROR.search(text)
    if found is None:
        return TakenApart(text, None)
    return TakenApart(text[: found.start()], found[1], (found[2] or "").strip() or None)


def request_error(message: str, status: int | None = None, details: str | None = None) -> TurnError:
    """A request to the model that failed, from the sentence about it, which begins with the HTTP status."""
    if status is None and (found := _STATUS.match(message)):
        status = int(found[1])
    native = None if status is None else f"HTTP {status}"
    if status in _REFUSED:
        return TurnError(RESPONSE_ERROR, message, False, native, details)
    return TurnError(TURN_FAILED, message, True, native, details)


def turn_error(message: str) -> TurnError:
    """Why a turn failed, from its result."""
    said = taken_apart(message)
    if said.error is not None:
        return request_error(said.error, details=said.hint)
    return TurnError(TURN_FAILED, message, retryable=_FINAL.search(message) is None)
