"""Why a turn failed, in the kinds that orchestrators act on.

Claude Code names an API error in three ways: its own word (``rate_limit``), the API's word
(``rate_limit_error``) and the HTTP status. The kinds are those of every harness: ``response_error`` for a request
that was refused and will be again, ``turn_failed`` for the rest. Claude's own word is kept as ``native``.
"""

from __future__ import annotations

from typing import Any, Final

from dragoman.model.messages import TurnError
from dragoman.wire.loose import as_int, as_list, as_str

RESPONSE_ERROR: Final = "response_error"
TURN_FAILED: Final = "turn_failed"

_REFUSED: Final = frozenset((400, 401, 403, 404, 413, 422))
_REFUSED_WORDS: Final = frozenset(
    (
        "authentication_failed",
        "authentication_error",
        "permission_error",
        "invalid_request",
        "invalid_request_error",
        "model_not_found",
        "not_found_error",
        "request_too_large",
        "oauth_org_not_allowed",
    )
)
_PASSING_WORDS: Final = frozenset(
    (
        "rate_limit",
        "rate_limit_error",
        "server_error",
        "api_error",
        "overloaded",
        "overloaded_error",
    )
)
UNNAMED: Final = "unknown"
"""Claude's word for an error that it has no word for."""


def api_error(
    message: str, word: Any, status: Any, api_type: Any, connection: Any = None
) -> TurnError:
    """An error of the model's service, or of the way to it."""
    native, code = as_str(word), as_int(status)
    more = [as_str(api_type), as_str(connection)]
    if native in (None, UNNAMED):
        native = next(filter(None, more), native)
    known = [f"HTTP {code}" if code is not None else None, *more]
    details = ", ".join(each for each in known if each and each != native) or None
    kind, retryable = _verdict(native, code)
    return TurnError(kind, message, retryable=retryable, native=native, details=details)


def _verdict(native: str | None, code: int | None) -> tuple[str, bool]:
    """The kind of a failure, and whether the same request may work later."""
    if native in _PASSING_WORDS or code == 429 or (code is not None and code >= 500):
        return TURN_FAILED, True
    if code in _REFUSED or native in _REFUSED_WORDS:
        return RESPONSE_ERROR, False
    return TURN_FAILED, code is None and native != "billing_error"


def limit_error(reason: str, errors: Any) -> TurnError:
    """A limit of the run: turns, budget, prompt length."""
    words = [text for each in as_list(errors) if (text := as_str(each))]
    message = "\n".join(words) or reason.removeprefix("error_").replace("_", " ")
    return TurnError(TURN_FAILED, message, retryable=False, native=reason)
