"""Errors as responses, always of the shape ``{"error": {"code": …, "message": …}}``.

The code is stable and meant for programs; the message is a sentence for people.
"""

from __future__ import annotations

import logging
from typing import Any, Final, cast

import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException

from dragoman.errors import (
    AgentError,
    AgentNotFound,
    DragomanError,
    InvalidWorkspace,
    ProcessExited,
    ProtocolError,
    ResponseTimeout,
    UnknownFormat,
    UnreadableSource,
    UsageError,
)
from dragoman.hub.hub import Forbidden, KeyUsedDifferently, UnfitDecision, UnknownSession
from dragoman.store.database import IndexUnusable

_log = logging.getLogger(__name__)

_KINDS: tuple[tuple[type[Exception], int, str], ...] = (
    (UnknownSession, 404, "no_session"),
    (Forbidden, 403, "outside_roots"),
    (KeyUsedDifferently, 409, "key_used_differently"),
    (UnfitDecision, 400, "unfit_decision"),
    (UnknownFormat, 400, "no_format"),
    (UnreadableSource, 404, "unreadable"),
    (UsageError, 400, "bad_request"),
    (ProtocolError, 409, "conflict"),
    (InvalidWorkspace, 400, "bad_workspace"),
    (AgentNotFound, 503, "no_agent"),
    (ProcessExited, 503, "agent_exited"),
    (ResponseTimeout, 504, "agent_silent"),
    (AgentError, 409, "agent_refused"),
    (IndexUnusable, 503, "no_index"),
    (DragomanError, 503, "unavailable"),
)
"""The status and code for each error class; the first match counts."""
_CODES: Final = {
    400: "bad_request",
    401: "not_signed_in",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    409: "conflict",
    413: "too_large",
    415: "unsupported_media_type",
    429: "too_many",
}


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """An error: a stable code for programs, and a sentence for people."""

    code: str
    message: str
    line: int | None = None
    """The line in the submitted text, if known."""


class ErrorBody(msgspec.Struct, frozen=True):
    """The body of every response with a status of 400 or above."""

    error: Problem


def refusal(
    status: int, code: str, message: str, *, line: int | None = None
) -> Response[ErrorBody]:
    headers = {"retry-after": "1"} if status == 503 else {}
    body = ErrorBody(Problem(code, message, line))
    return Response(body, status_code=status, media_type="application/json", headers=headers)


def _ours(_request: Request[Any, Any, Any], problem: DragomanError) -> Response[ErrorBody]:
    return refuse(problem)


def refuse(problem: DragomanError) -> Response[ErrorBody]:
    """The response for one of Dragoman's own errors."""
    status, code = next((s, c) for kind, s, c in _KINDS if isinstance(problem, kind))
    if status >= 500:
        _log.warning("%s", problem)
    line = getattr(problem, "line", None)
    return refusal(status, code, str(problem), line=line if isinstance(line, int) else None)


def _http(_request: Request[Any, Any, Any], problem: HTTPException) -> Response[ErrorBody]:
    status = problem.status_code
    message = problem.detail or "the request is invalid"
    extra = problem.extra
    if isinstance(extra, list):
        told = [_told(each) for each in extra]
        message = "; ".join(filter(None, told)) or message
    made = refusal(status, _CODES.get(status, "refused"), message)
    for name, value in (problem.headers or {}).items():
        made.set_header(name, value)
    return made


def _told(extra: Any) -> str:
    if not isinstance(extra, dict):
        return ""
    facts = cast("dict[str, Any]", extra)
    return ": ".join(str(facts[name]) for name in ("key", "message") if facts.get(name))


def _too_deep(request: Request[Any, Any, Any], _problem: RecursionError) -> Response[ErrorBody]:
    _log.warning("%s %s received JSON that is nested too deeply", request.method, request.url.path)
    return refusal(400, "bad_request", "the JSON is nested too deeply")


def _bug(request: Request[Any, Any, Any], problem: Exception) -> Response[ErrorBody]:
    _log.error("%s %s failed", request.method, request.url.path, exc_info=problem)
    return refusal(500, "internal", "internal server error; see the server's log")


HANDLERS: dict[Any, Any] = {
    DragomanError: _ours,
    HTTPException: _http,
    RecursionError: _too_deep,
    Exception: _bug,
}
