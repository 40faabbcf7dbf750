"""Our end of the connection: each request of ours is answered once, each of theirs at once or by a decision."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from dragoman.harnesses.acp.failures import AUTH_REQUIRED
from dragoman.harnesses.acp.methods import is_about_files
from dragoman.harnesses.contract.conversation import Refusal
from dragoman.wire.jsonrpc import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    ErrorResponse,
    Incoming,
    Peer,
    Request,
    RequestId,
    Response,
    RpcError,
)
from dragoman.wire.lines import LongLine
from dragoman.wire.loose import as_dict, as_str

Then: TypeAlias = Callable[[dict[str, Any], Refusal | None], None]
"""Takes the result of a request, or the refusal."""
LEFT: Final = "the agent's process ended"
TOO_LONG: Final = "the message was too long to read"
_NO_FILES: Final = "this client offers neither files nor terminals"
_UPDATE: Final = b'"session/update"'
_ID: Final = re.compile(rb'"id"\s*:\s*(\d{1,9})\b')
_RESULT: Final = re.compile(rb'\A\s*\{(?:"jsonrpc":"2.0",)?\s*"id"\s*:\s*(\d{1,9})\s*,\s*"result"')


class AcpChannel:
    """Requests in both directions, and the lines to send, in order."""

    def __init__(self, asked: Callable[[Request], None]) -> None:
        self._peer = Peer(version_field=True)
        self._asked = asked
        self._waiting: dict[int, Then] = {}

    # To the agent.

    def request(self, method: str, params: dict[str, Any], then: Then) -> None:
        """Ask; ``then`` is called once."""
        self._waiting[self._peer.request(method, params)] = then

    def notify(self, method: str, params: dict[str, Any]) -> None:
        self._peer.notify(method, params)

    def answer(self, id: RequestId, result: dict[str, Any]) -> None:
        if id in self._peer.unanswered():
            self._peer.answer(id, result)

    def refuse(self, id: RequestId, code: int, why: str) -> None:
        if id in self._peer.unanswered():
            self._peer.refuse(id, code, why)

    def lines_to_send(self) -> list[bytes]:
        return self._peer.lines_to_send()

    # From the agent.

    def receive_line(self, line: bytes) -> None:
        if _UPDATE in line[:120]:
            return  # most lines: nothing to answer, and the parser reads them
        self._peer.receive_line(line)
        self._attend()

    def receive_long_line(self, line: LongLine) -> None:
        """Answer a request that was too long to read; a response that was is a failure."""
        if found := _RESULT.match(line.head):
            error = {"code": INTERNAL_ERROR, "message": TOO_LONG}
            self._peer.receive_value({"id": int(found[1]), "error": error}, b"")
            self._attend()
        elif (found := _ID.search(line.head)) and b'"method"' in line.head:
            self._peer.receive_value({"id": int(found[1]), "method": "too long"}, b"")
            for event in self._peer.events():
                if isinstance(event, Request):
                    self._peer.refuse(event.id, INTERNAL_ERROR, TOO_LONG)

    def receive_eof(self) -> None:
        self._peer.receive_eof()
        self._attend()

    def _attend(self) -> None:
        for event in self._peer.events():
            self._handle(event)

    def _handle(self, event: Incoming) -> None:
        match event:
            case Request(method="session/request_permission" | "elicitation/create"):
                self._asked(event)
            case Request(method=method) if is_about_files(method):
                self._peer.refuse(event.id, METHOD_NOT_FOUND, _NO_FILES)
            case Request():
                self._peer.refuse(event.id, METHOD_NOT_FOUND, f"unknown method {event.method!r}")
            case Response():
                self._then(event.id)(as_dict(event.result), None)
            case ErrorResponse():
                self._then(event.id)({}, refusal_of(event.method, event.error))
            case _:
                pass  # a notification or an odd line: the parser keeps it

    def _then(self, id: int) -> Then:
        return self._waiting.pop(id, _ignore)


def refusal_of(method: str, error: RpcError) -> Refusal:
    """Why a request was refused."""
    if error.code == CONNECTION_CLOSED and error.message == "connection closed":
        return Refusal(kind="port_exit", message=LEFT)
    details = as_str(error.data) or as_str(as_dict(error.data).get("details"))
    said = f"{error.message}: {details}" if details else error.message
    if error.code == METHOD_NOT_FOUND:
        return Refusal(
            kind="unsupported", message=f"the agent does not offer {method}", code=error.code
        )
    kind = "sign_in" if error.code == AUTH_REQUIRED else "response_error"
    return Refusal(kind=kind, message=f"{method}: {said}", code=error.code)


def _ignore(result: dict[str, Any], refusal: Refusal | None) -> None:
    """Whether this could be done changes nothing."""
