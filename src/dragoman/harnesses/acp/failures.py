"""Why a prompt failed, in the kinds that every harness uses."""

from __future__ import annotations

import re
from typing import Any, Final

from dragoman.harnesses.acp.quirks import AcpQuirks
from dragoman.model.messages import TurnError
from dragoman.wire import jsonl
from dragoman.wire.loose import as_dict, as_int, as_str

RESPONSE_ERROR: Final = "response_error"
TURN_FAILED: Final = "turn_failed"
AUTH_REQUIRED: Final = -32000

INTERNAL: Final = re.compile(r"\AInternal error(?:: ?|\Z)", re.IGNORECASE)
_STATUS: Final = re.compile(r"\b([45]\d\d)\b")
_REFUSED: Final = frozenset((400, 401, 403, 404, 413, 422))
_PASSING: Final = ("rate_limit", "server_error", "overloaded", "slow down", "too many requests")
_REFUSED_WORDS: Final = ("authentication_failed", "invalid_request", "model_not_found")
_STOPPED: Final = {
    "max_tokens": "the model reached its limit of tokens",
    "max_turn_requests": "the turn reached its limit of model requests",
    "refusal": "the model refused to go on",
}


def prompt_error(error: Any) -> TurnError:
    """The error that a prompt was answered with."""
    given = as_dict(error)
    code, data = as_int(given.get("code")), given.get("data")
    message = INTERNAL.sub("", as_str(given.get("message")) or "") or _details(data)
    message = _said(message or "an error without a message")
    native = as_str(as_dict(data).get("errorKind")) or as_str(as_dict(data).get("errorName"))
    details = _details(data)
    status = code if code is not None and 400 <= code < 600 else _status(message, details)
    kind, retryable = _verdict(native, status, message, is_auth=code == AUTH_REQUIRED)
    details = details if details != message else None
    return TurnError(kind, message, retryable=retryable, native=native, details=details)


def text_error(text: str, quirks: AcpQuirks) -> TurnError | None:
    """The model error that this text is; None for what the agent says to the user."""
    found = quirks.error_text.match(text) if quirks.error_text is not None else None
    if found is None:
        return None
    status = int(found[1]) if found[1] else _status(text)
    kind, retryable = _verdict(None, status, text)
    return TurnError(kind, text.strip(), retryable=retryable, native=found[1] or None)


def flagged_error(text: str) -> TurnError:
    """The error of a turn that the agent marks as failed; its last text says why."""
    said = text.strip() or "the agent reports that the turn failed"
    status = _status(said)
    kind, retryable = _verdict(None, status, said)
    return TurnError(
        kind, said, retryable=retryable, native=str(status) if status is not None else None
    )


def stop_error(reason: str) -> TurnError | None:
    """Why a turn that the agent has stopped is no completed one."""
    said = _STOPPED.get(reason)
    return TurnError(TURN_FAILED, said, retryable=False, native=reason) if said else None


def _said(message: str) -> str:
    """What the service said, where the message is its whole answer."""
    if not message.startswith("{"):
        return message
    try:
        answer = as_dict(jsonl.loads(message.encode()))
    except jsonl.NotJson:
        return message
    return as_str(as_dict(answer.get("error")).get("message")) or message


def _details(data: Any) -> str | None:
    return as_str(data) or as_str(as_dict(data).get("details"))


def _status(*texts: str | None) -> int | None:
    found = next(filter(None, (_STATUS.search(text) for text in texts if text)), None)
    return int(found[1]) if found else None


def _verdict(
    native: str | None, status: int | None, message: str, *, is_auth: bool = False
) -> tuple[str, bool]:
    """The kind of a failure, and whether the same prompt may work later."""
    words = f"{native or ''} {message}".lower()
    if status == 429 or (status is not None and status >= 500):
        return TURN_FAILED, True
    if is_auth or status in _REFUSED or any(word in words for word in _REFUSED_WORDS):
        return RESPONSE_ERROR, False
    return TURN_FAILED, status is None or any(word in words for word in _PASSING)
