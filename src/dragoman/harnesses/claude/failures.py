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
_UNNAMED: Final = "unknown"
"""Claude's word for an error that it has no word for."""


def api_error(message: str, word: Any, status: Any, api_type: Any) -> TurnError:
    """An error of the model's service."""
    native = as_str(word)
    if native in (None, _UNNAMED):
        native = as_str(api_type) or native
    code = as_int(status)
    if native in _PASSING_WORDS or code == 429 or (code is not None and code >= 500):
        return TurnError(TURN_FAILED, message, retryable=True, native=native)
    if code in _REFUSED or native in _REFUSED_WORDS:
        return TurnError(RESPONSE_ERROR, message, retryable=False, native=native)
    is_final = code is not None or native == "billing_error"
    return TurnError(TURN_FAILED, message, retryable=not is_final, native=native)


def limit_error(reason: str, errors: Any) -> TurnError:
    """A limit of the run: turns, budget, prompt length."""
    words = [text for each in as_list(errors) if (text := as_str(each))]
    message = "\n".join(words) or reason.removeprefix("error_").replace("_", " ")
    return TurnError(TURN_FAILED, message, retryable=False, native=reason)
