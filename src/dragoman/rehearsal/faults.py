"""Faults: which of them an attempt meets, and what HTTP errors look like.

An agent repeats a request that failed, and the repetition looks the same. So faults are counted by
attempts at the same place: those that end an attempt take their turns in order, ``times`` each.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from dragoman.rehearsal.script import Fault, Garbage, Http, Step

_USUAL: dict[int, tuple[str, str | None, str]] = {
    400: ("invalid_request_error", "invalid_request", "The request is not valid."),
    401: ("invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    403: ("invalid_request_error", "forbidden", "You may not use this model."),
    404: ("invalid_request_error", "model_not_found", "There is no such model."),
    429: ("rate_limit_error", "rate_limit_exceeded", "Rate limit reached. Try again in 1 s."),
    500: ("server_error", None, "The server had an error while processing the request."),
    503: ("server_error", "server_is_overloaded", "The server is overloaded. Try again later."),
}


class Attempt:
    """One attempt at a place, counted from 0."""

    def __init__(self, number: int) -> None:
        self.number = number

    def of(self, steps: Iterable[Step]) -> list[Step]:
        """The steps of this attempt, without the faults that are over or yet to come."""
        met: list[Step] = []
        first = 0  # the attempt that meets the next fault that ends one
        for step in steps:
            if not isinstance(step, Fault):
                met.append(step)
            elif isinstance(step, Garbage):
                if step.times is None or self.number < step.times:
                    met.append(step)
            else:
                last = None if step.times is None else first + step.times
                if self.number >= first and (last is None or self.number < last):
                    met.append(step)
                first = self.number + 1 if last is None else last
        return met


def http_error(step: Http) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of an HTTP error, in the API's usual words."""
    kind, code, message = _USUAL.get(step.status, ("server_error", None, "This went wrong."))
    error = {
        "message": step.message or message,
        "type": step.kind or kind,
        "param": None,
        "code": step.code or code,
    }
    body = msgspec.json.encode({"error": error}) if step.body is None else step.body.encode()
    return step.status, {"content-type": "application/json", **step.headers}, body
