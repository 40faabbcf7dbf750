"""Why a turn failed, in the kinds that orchestrators act on."""

from __future__ import annotations

from typing import Any, Final

from dragoman.model.messages import TurnError
from dragoman.wire.loose import as_int, as_str

RESPONSE_ERROR: Final = "response_error"
TURN_FAILED: Final = "turn_failed"

_REFUSED: Final = frozenset((400, 401, 403, 404, 413, 422))
_REFUSED_WORDS: Final = frozenset(("authentication", "authorization", "policy", "context_limit"))
_PASSING_WORDS: Final = frozenset(("rate_limit",))


def session_error(data: dict[str, Any]) -> TurnError:
    """The error in ``session.error``."""
    native, status = as_str(data.get("errorType")), as_int(data.get("statusCode"))
    more = [
        f"HTTP {status}" if status is not None else None,
        as_str(data.get("errorCode")),
        as_str(data.get("providerErrorType")),
        as_str(data.get("remediation")),
        as_str(data.get("url")),
    ]
    kind, retryable = _verdict(native, status)
    return TurnError(
        kind,
        as_str(data.get("message")) or native or "the turn failed",
        retryable=retryable,
        native=native,
        details=", ".join(filter(None, more)) or None,
    )


def _verdict(native: str | None, status: int | None) -> tuple[str, bool]:
    """The kind of a failure, and whether the same request may work later."""
    if native in _PASSING_WORDS or status == 429 or (status is not None and status >= 500):
        return TURN_FAILED, True
    if status in _REFUSED or native in _REFUSED_WORDS:
        return RESPONSE_ERROR, False
    return TURN_FAILED, status is None and native != "quota"
