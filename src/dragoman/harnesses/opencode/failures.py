"""Why a turn failed, in the kinds that orchestrators act on."""

from __future__ import annotations

from typing import Any, Final

from dragoman.model.messages import TurnError
from dragoman.wire.loose import as_dict, as_int, as_str

RESPONSE_ERROR: Final = "response_error"
TURN_FAILED: Final = "turn_failed"
ABORTED: Final = "MessageAbortedError"

_REFUSED: Final = frozenset((400, 401, 403, 404, 413, 422))
_REFUSED_WORDS: Final = frozenset(
    ("ProviderAuthError", "ContextOverflowError", "ProviderModelNotFoundError")
)


def error_of(value: Any) -> TurnError:
    """The error of a message or a session: ``{"name", "data": {"message", "statusCode", "isRetryable"}}``."""
    given = as_dict(value)
    data, native = as_dict(given.get("data")), as_str(given.get("name"))
    status = as_int(data.get("statusCode"))
    message = as_str(data.get("message")) or as_str(given.get("message")) or native
    details = f"HTTP {status}" if status is not None else None
    kind = TURN_FAILED
    retryable = data.get("isRetryable") is True or status == 429
    if status in _REFUSED or native in _REFUSED_WORDS:
        kind, retryable = RESPONSE_ERROR, False
    elif status is not None and status >= 500:
        retryable = True
    return TurnError(kind, message or "the turn failed", retryable, native, details)


def is_abort(value: Any) -> bool:
    """Whether the user stopped the turn."""
    return as_dict(value).get("name") == ABORTED
