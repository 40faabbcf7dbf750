"""Errors of the Messages API: over HTTP, and in the middle of a stream."""

from __future__ import annotations

from dragoman.rehearsal.actions import Head, json_head
from dragoman.rehearsal.script import Fail, Http

_USUAL: dict[int, tuple[str, str]] = {
    400: ("invalid_request_error", "The request is not valid."),
    401: ("authentication_error", "invalid x-api-key"),
    402: ("billing_error", "Your credit balance is too low to access the Anthropic API."),
    403: ("permission_error", "Your API key does not have permission to use this model."),
    404: ("not_found_error", "There is no such model."),
    413: ("request_too_large", "Request exceeds the maximum size"),
    429: ("rate_limit_error", "This request would exceed your rate limit."),
    500: ("api_error", "Internal server error"),
    529: ("overloaded_error", "Overloaded"),
}
_CODES = {
    "server_error": "api_error",
    "rate_limit_exceeded": "rate_limit_error",
    "server_is_overloaded": "overloaded_error",
    "invalid_prompt": "invalid_request_error",
}
_OVERFLOW = "context_length_exceeded"


def http_error(step: Http) -> Head:
    """An HTTP error, in the API's usual words. ``type`` names it; ``code`` is for the other API."""
    kind, message = _USUAL.get(step.status, ("api_error", "This went wrong."))
    if step.body is not None:
        return json_head(step.status, step.body.encode(), step.headers)
    error = {"type": step.kind or kind, "message": step.message or message}
    body = {"type": "error", "error": error, "request_id": "req_rehearsal"}
    return json_head(step.status, body, step.headers)


def overflow(step: Fail) -> Http | None:
    """The error for a context window that is full: this API refuses the request instead."""
    if step.code != _OVERFLOW:
        return None
    return Http(400, message="prompt is too long: 200001 tokens > 200000 maximum")


def kind_of(step: Fail) -> str:
    """The API's name for a failure of the model."""
    return _CODES.get(step.code, step.code)
