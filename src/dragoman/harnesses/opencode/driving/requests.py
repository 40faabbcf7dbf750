"""Requests that wait for their responses, each a line."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote, urlencode

import msgspec

from dragoman.harnesses.contract.answering import Done
from dragoman.harnesses.contract.conversation import Refusal
from dragoman.wire.jsonl import UNREADABLE
from dragoman.wire.loose import as_dict, as_str


class _Response(msgspec.Struct, gc=False):
    id: int
    status: int | None = None
    body: Any = None
    error: Any = None


_decode: Final = msgspec.json.Decoder(_Response).decode


class HttpRequests:
    """The requests of one conversation."""

    def __init__(self) -> None:
        self._waiting: dict[int, Done] = {}
        self._streams: set[int] = set()
        self._lines: list[bytes] = []
        self._count = 0

    def send(
        self, method: str, path: str, body: Any, done: Done, *, is_stream: bool = False
    ) -> None:
        """Send a request; ``done`` gets its response."""
        self._count += 1
        line = {"id": self._count, "method": method, "path": path, "body": body}
        self._lines.append(msgspec.json.encode(line) + b"\n")
        self._waiting[self._count] = done
        if is_stream:
            self._streams.add(self._count)

    def lines(self) -> list[bytes]:
        """The lines to send since the last call."""
        lines, self._lines = self._lines, []
        return lines

    def receive_line(self, line: bytes) -> bool:
        """Take a line that may be a response; whether it was one of ours."""
        try:
            response = _decode(line)
        except UNREADABLE:
            return False
        if response.status is None and response.error is None:
            return False
        is_stream = response.id in self._streams
        done = self._waiting.get(response.id)
        refusal = _refusal(response)
        if not is_stream or refusal is not None:
            self._waiting.pop(response.id, None)
        if done is not None:
            done(response.body, refusal)
        return done is not None

    def close(self, refusal: Refusal) -> None:
        """No response will come any more."""
        waiting, self._waiting = self._waiting, {}
        for done in waiting.values():
            done(None, refusal)


def _refusal(response: _Response) -> Refusal | None:
    if response.error is not None:
        return Refusal(kind="response_error", message=str(response.error))
    status = response.status or 0
    if 200 <= status < 300:
        return None
    body = as_dict(response.body)
    message = as_str(as_dict(body.get("data")).get("message")) or as_str(body.get("message"))
    said = message or as_str(body.get("name")) or f"HTTP {status}"
    return Refusal(kind="response_error", message=said, code=status)


def in_directory(path: str, directory: str, **more: str | int) -> str:
    """A path with its query."""
    query = {"directory": directory, **more}
    return f"{path}?{urlencode(query, quote_via=quote)}"


def of_session(session_id: str, rest: str = "") -> str:
    """The path of a session, or below it."""
    return f"/session/{quote(session_id, safe='')}{rest}"
