"""Why a turn failed, in the kinds that orchestrators act on.

The message of an error is a text around what the service answered: ``[API Error: {"error": {…}}]``. A run that ends
without a result still says something by its exit code: an HTTP status, modulo 256, or a code of the program's own.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from dragoman.model.messages import TurnError
from dragoman.wire.loose import as_dict, as_int, as_str

RESPONSE_ERROR: Final = "response_error"
TURN_FAILED: Final = "turn_failed"

_API_ERROR: Final = "[API Error: "
_CLOSED: Final = re.compile(r"\][ \t]*(?:\n|\Z)")
_DECODER: Final = json.JSONDecoder()
_REFUSED: Final = frozenset((400, 401, 403, 404, 413, 422))
_PERMANENT: Final = frozenset(
    ("FatalTurnLimitedError", "FatalInputError", "FatalAuthenticationError", "FatalConfigError",
     "FatalSandboxError", "FatalUntrustedWorkspaceError", "FatalToolExecutionError")
)  # fmt: skip
_UNNAMED: Final = frozenset(("unknown", "Error"))
_PASSING: Final = re.compile(r"try again later|quota|overloaded|unavailable", re.IGNORECASE)
_OWN_EXITS: Final = {
    41: ("FatalAuthenticationError", "no valid sign-in: choose an auth method or set GEMINI_API_KEY"),
    42: ("FatalInputError", "the input or the session was not accepted"),
    44: ("FatalSandboxError", "the sandbox could not be started"),
    52: ("FatalConfigError", "the settings are not valid"),
    53: ("FatalTurnLimitedError", "the limit of turns was reached"),
    54: ("FatalToolExecutionError", "a tool failed in a way that ends the run"),
    55: ("FatalUntrustedWorkspaceError", "the folder is not trusted: set GEMINI_CLI_TRUST_WORKSPACE=true"),
}  # fmt: skip
_STATUSES: Final = frozenset((400, 401, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504))
_INTERRUPTIONS: Final = frozenset((130, 143))


def result_error(error: Any, complaint: str | None = None) -> TurnError:
    """The error of a ``result`` line; one without a reason has the newest complaint before it."""
    given = as_dict(error)
    native = as_str(given.get("type"))
    text = as_str(given.get("message")) or native or complaint or "the run failed"
    message, hint, code, status = _taken_apart(text)
    known = (f"HTTP {code}" if code is not None else None, status, hint)
    details = ", ".join(each for each in known if each) or None
    kind, retryable = _verdict(native, code, text)
    return TurnError(
        kind,
        message,
        retryable=retryable,
        native=None if native in _UNNAMED else native,
        details=details,
    )


def exit_error(code: int | None) -> TurnError | None:
    """What the exit code of a run without a result says; None if it says nothing."""
    if code is None or code == 0 or code in _INTERRUPTIONS:
        return None
    if code in _OWN_EXITS:
        native, message = _OWN_EXITS[code]
        return TurnError(RESPONSE_ERROR, message, retryable=False, native=native)
    status = next((each for each in sorted(_STATUSES) if each % 256 == code), None)
    if status is None:
        return TurnError(TURN_FAILED, f"gemini ended with exit code {code}", retryable=code == 1)
    kind, retryable = _verdict(None, status, "")
    return TurnError(kind, f"the request failed (HTTP {status})", retryable=retryable)


def _taken_apart(text: str) -> tuple[str, str | None, int | None, str | None]:
    """The message, a hint that follows it, the HTTP status and the service's own word."""
    if not text.startswith(_API_ERROR):
        return text, None, None, None
    answer, inner, hint = _answer(text.removeprefix(_API_ERROR))
    error = as_dict(as_dict(answer).get("error"))
    message = as_str(error.get("message")) or inner
    return message, hint.strip() or None, as_int(error.get("code")), as_str(error.get("status"))


def _answer(text: str) -> tuple[Any, str, str]:
    """The service's answer, decoded and as it stands, and what follows the bracket that closes it.

    JSON has brackets of its own, so it is decoded to find its end.
    """
    try:
        answer, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        inner, *rest = _CLOSED.split(text, maxsplit=1)
        return None, inner, "".join(rest)
    return answer, text[:end], text[end:].lstrip().removeprefix("]")


def _verdict(native: str | None, code: int | None, text: str) -> tuple[str, bool]:
    """The kind of a failure, and whether the same request may work later."""
    if code == 429 or (code is not None and code >= 500):
        return TURN_FAILED, True
    if code in _REFUSED:
        return RESPONSE_ERROR, False
    if native in _PERMANENT:
        return TURN_FAILED, False
    return TURN_FAILED, _PASSING.search(text) is not None or "fetch failed" in text
