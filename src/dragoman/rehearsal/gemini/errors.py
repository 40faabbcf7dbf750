"""HTTP errors of the Gemini API."""

from __future__ import annotations

from typing import Any

from dragoman.rehearsal.actions import Head, json_head
from dragoman.rehearsal.script import Http

_USUAL: dict[int, tuple[str, str]] = {
    400: ("INVALID_ARGUMENT", "The request is not valid."),
    401: ("UNAUTHENTICATED", "API key not valid. Please pass a valid API key."),
    403: ("PERMISSION_DENIED", "You may not use this model."),
    404: ("NOT_FOUND", "There is no such model."),
    429: ("RESOURCE_EXHAUSTED", "You exceeded your current quota."),
    500: ("INTERNAL", "An internal error has occurred."),
    503: ("UNAVAILABLE", "The model is overloaded. Please try again later."),
}
_RETRY = "type.googleapis.com/google.rpc.RetryInfo"
OVERFLOW = Http(
    400,
    message="The input token count (2000001) exceeds the maximum number of tokens allowed (1048576).",
)


def http_error(step: Http) -> Head:
    """An HTTP error, in the API's usual words. ``retry-after`` is said in the body as well."""
    if step.body is not None:
        return json_head(step.status, step.body.encode(), step.headers)
    body = {"error": error_of(step.status, step.message, step.kind or step.code)}
    wait = next((v for k, v in step.headers.items() if k.lower() == "retry-after"), None)
    if wait is not None:
        body["error"]["details"] = [{"@type": _RETRY, "retryDelay": f"{wait}s"}]
    return json_head(step.status, body, step.headers)


def error_of(status: int, message: str | None, kind: str | None) -> dict[str, Any]:
    """The error as the API puts it."""
    usual, words = _USUAL.get(status, ("INTERNAL", "This went wrong."))
    return {"code": status, "message": message or words, "status": kind or usual}
