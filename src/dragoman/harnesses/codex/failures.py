"""Why a turn failed, in the kinds that orchestrators act on.

Codex names the reason in three ways: a word (``"usageLimitExceeded"``), a word with details
(``{"httpConnectionFailed": {"httpStatusCode": 401}}``), or only a sentence (``codex exec`` and
releases up to 0.60). All three end in one table, so that a failure is the same kind wherever it
was read.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

import msgspec

from dragoman.harnesses.codex.values.loose import as_dict, as_int, as_str
from dragoman.model.messages import TurnError

RESPONSE_ERROR: Final = "response_error"
"""The model's service refused the request; asking again the same way will not help."""
TURN_FAILED: Final = "turn_failed"


class _Verdict(NamedTuple):
    kind: str
    retryable: bool


_REFUSED: Final = _Verdict(RESPONSE_ERROR, retryable=False)
_FINAL: Final = _Verdict(TURN_FAILED, retryable=False)
_PASSING: Final = _Verdict(TURN_FAILED, retryable=True)

_VERDICTS: Final = {
    "unauthorized": _REFUSED,
    "badrequest": _REFUSED,
    "contextwindowexceeded": _FINAL,
    "usagelimitexceeded": _FINAL,
    "sessionbudgetexceeded": _FINAL,
    "sandboxerror": _FINAL,
    "modelnotfound": _FINAL,
    "cyberpolicy": _FINAL,
    "invalidprompt": _FINAL,
    "misalignmentpolicyviolation": _FINAL,
    "inferencehookdenied": _FINAL,
    "toomanydenials": _FINAL,
    "activeturnnotsteerable": _FINAL,
    "threadrollbackfailed": _FINAL,
    "flexunavailable": _PASSING,
    "modelcap": _PASSING,
    "policycapacityunavailable": _PASSING,
    "httpconnectionfailed": _PASSING,
    "responsestreamconnectionfailed": _PASSING,
    "responsestreamdisconnected": _PASSING,
    "responsetoomanyfailedattempts": _PASSING,
    "internalservererror": _PASSING,
    "serveroverloaded": _PASSING,
    "ratelimitexceeded": _PASSING,
    "other": _PASSING,
}
_DETAILS: Final = ("details", "additionalDetails", "additional_details", "data")
_KNOWN: Final = frozenset((*_DETAILS, "message", "type", "codexErrorInfo", "codex_error_info"))
_BY_STATUS: Final = {400: _REFUSED, 401: _REFUSED, 403: _REFUSED, 404: _REFUSED}

_STATUS: Final = re.compile(r"\bstatus:? (\d{3})\b")
_SENTENCES: Final = (
    (re.compile(r"context window|context_length_exceeded", re.IGNORECASE), _FINAL),
    (re.compile(r"usage limit|quota exceeded|insufficient_quota", re.IGNORECASE), _FINAL),
    (re.compile(r"model_not_found|model .* does not exist", re.IGNORECASE), _FINAL),
    (re.compile(r"sandbox (error|denied)|landlock|seccomp", re.IGNORECASE), _FINAL),
    (re.compile(r"^Invalid prompt|cyber", re.IGNORECASE), _FINAL),
)


def knows(word: str) -> bool:
    """Whether Codex's own word for an error has a verdict of its own."""
    return word.replace("_", "").lower() in _VERDICTS


def turn_error(message: str, info: Any = None, details: Any = None) -> TurnError:
    """What went wrong, from the sentence and, where there is one, Codex's own word for it."""
    word, status = _word(info), _status(info)
    verdict = None
    is_specific = word is not None and word.lower() != "other"
    if status is None and not is_specific:
        status = _status_in(message)
    if status is not None:
        verdict = _BY_STATUS.get(status)
    if verdict is None and word is not None and is_specific:
        verdict = _VERDICTS.get(word.replace("_", "").lower(), _PASSING)
    if verdict is None:
        verdict = next(
            (given for pattern, given in _SENTENCES if pattern.search(message)), _PASSING
        )
    return TurnError(
        kind=verdict.kind,
        message=message,
        retryable=verdict.retryable,
        native=word,
        details=words_of(details) or None,
    )


def words_of(error: Any) -> str:
    """The text of an error, whether it is a sentence, an object with one, or anything else."""
    if error is None or isinstance(error, str):
        return error or ""
    given = as_dict(error)
    message = as_str(given.get("message"))
    if message is None:
        return msgspec.json.encode(error).decode()
    return message


def error_in(error: Any) -> TurnError:
    """What went wrong, from an error on the wire: a sentence, or an object around it."""
    given = as_dict(error)
    info = given.get("codexErrorInfo", given.get("codex_error_info"))
    return turn_error(words_of(error), info, details_in(given))


def details_in(error: dict[str, Any]) -> Any:
    """What an error contains besides its message."""
    if as_str(error.get("message")) is None:
        return None  # all of it is the message
    named = next((error[name] for name in _DETAILS if error.get(name) is not None), None)
    rest = {
        name: value for name, value in error.items() if name not in _KNOWN and value is not None
    }
    return named if not rest else rest if named is None else {**rest, "details": named}


def _word(info: Any) -> str | None:
    return as_str(info) or next(iter(as_dict(info)), None)


def _status(info: Any) -> int | None:
    details = as_dict(next(iter(as_dict(info).values()), None))
    return as_int(details.get("httpStatusCode", details.get("http_status_code")))


def _status_in(message: str) -> int | None:
    found = _STATUS.search(message)
    return int(found[1]) if found else None
