"""HTTP errors of the Responses API."""

from __future__ import annotations

from dragoman.rehearsal.actions import Head, json_head
from dragoman.rehearsal.script import Http

_USUAL: dict[int, tuple[str, str | None, str]] = {
    400: ("invalid_request_error", "invalid_request", "The request is not valid."),
    401: ("invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    403: ("invalid_request_error", "forbidden", "You may not use this model."),
    404: ("invalid_request_error", "model_not_found", "There is no such model."),
    429: ("rate_limit_error", "rate_limit_exceeded", "Rate limit reached. Try again in 1 s."),
    500: ("server_error", None, "The server had an error while processing the request."),
    503: ("server_error", "server_is_overloaded", "The server is overloaded. Try again later."),
}


def http_error(step: Http) -> Head:
    """An HTTP error, in the API's usual words."""
    kind, code, message = _USUAL.get(step.status, ("server_error", None, "This went wrong."))
    error = {
        "message": step.message or message,
        "type": step.kind or kind,
        "param": None,
        "code": step.code or code,
    }
    body = {"error": error} if step.body is None else step.body.encode()
    return json_head(step.status, body, step.headers)
