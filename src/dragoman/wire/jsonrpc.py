"""One end of a JSON-RPC connection, line by line, without the connection.

A :class:`Peer` matches responses with requests in both directions. It does not interpret them: methods are
strings, params and results are any JSON. Processes, deadlines and retries belong to its callers; the methods
and shapes of a program belong to its harness.

Incoming lines become:

    method and id           Request, open until answered or refused
    method, no id           Notification
    id, result              Response to a request of ours
    id, error               ErrorResponse to a request of ours
    anything else           Stray, kept unchanged

This follows the JSON-RPC 2.0 specification, permissively: ``"jsonrpc"`` may be missing, and unknown keys are
ignored. A batch is a Stray: no dialect uses them.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeGuard, cast

import msgspec

from dragoman.errors import ProtocolError
from dragoman.wire import jsonl

INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603
CONNECTION_CLOSED = -32000

RequestId: TypeAlias = int | str


@dataclass(frozen=True, slots=True, kw_only=True)
class RpcError:
    """The error of a failed request, as reported by the side that failed it."""

    code: int
    message: str
    data: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request from the other side, open until :meth:`~Peer.answer` or :meth:`~Peer.refuse`."""

    id: RequestId
    method: str
    params: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """A notification from the other side."""

    method: str
    params: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """The answer to our request ``id``, which called ``method``."""

    id: int
    method: str
    result: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorResponse:
    """Our request ``id``, which called ``method``, failed."""

    id: int
    method: str
    error: RpcError


@dataclass(frozen=True, slots=True, kw_only=True)
class Stray:
    """A line that is none of the others, and why."""

    raw: bytes
    problem: str


Incoming: TypeAlias = Request | Notification | Response | ErrorResponse | Stray


class Peer:
    """Our end of the connection.

    Call :meth:`receive_line` with each incoming line and :meth:`receive_eof` at the end, then read
    :meth:`events`. After any call, send :meth:`lines_to_send`. Incoming lines never raise;
    :class:`ProtocolError` is for wrong calls.

    ``version_field``: whether to write ``"jsonrpc":"2.0"``; some dialects require it, some
    omit it. ``handles``: the methods that the other side may call; any other request is refused
    immediately, so that it does not wait forever. Without it, every request is reported and must be
    answered.
    """

    def __init__(self, *, version_field: bool, handles: AbstractSet[str] | None = None) -> None:
        self._version: dict[str, Any] = {"jsonrpc": "2.0"} if version_field else {}
        self._handles = handles
        self._last_id = 0
        # Open requests, id to method. Each side counts its own ids, so the same id may be in both.
        self._ours: dict[int, str] = {}
        self._theirs: dict[RequestId, str] = {}
        self._events: list[Incoming] = []
        self._lines: list[bytes] = []
        self._eof = False

    # From the other side.

    def receive_line(self, line: bytes) -> None:
        """Process one line, with or without its newline. Never raises; blank lines are ignored."""
        if jsonl.is_blank(line):
            return
        try:
            value = jsonl.loads(line)
        except jsonl.NotJson as exc:
            event = Stray(raw=line, problem=exc.problem)
        else:
            event = self._read(line, value)
        self._events.append(event)

    def receive_value(self, value: Any, line: bytes) -> None:
        """Take a line that was decoded already."""
        self._events.append(self._read(line, value))

    def receive_eof(self) -> None:
        """End of input: all open requests of ours have failed."""
        self._eof = True
        error = RpcError(code=CONNECTION_CLOSED, message="connection closed")
        self._events += [
            ErrorResponse(id=id, method=method, error=error) for id, method in self._ours.items()
        ]
        self._ours.clear()

    def events(self) -> list[Incoming]:
        """The events since the last call, in order."""
        events, self._events = self._events, []
        return events

    def pending(self) -> list[int]:
        """The ids of our requests that they have not answered, oldest first."""
        return list(self._ours)

    def unanswered(self) -> list[RequestId]:
        """The ids of their requests that we have not answered, oldest first."""
        return list(self._theirs)

    # To the other side.

    def request(self, method: str, params: Any = None) -> int:
        """Send a request; its response is an event with the returned id."""
        if self._eof:
            raise ProtocolError(f"cannot request {method!r}: the connection is closed")
        id = self._last_id + 1
        self._send({"id": id, "method": method} | _given(params=params))
        self._last_id = id
        self._ours[id] = method
        return id

    def notify(self, method: str, params: Any = None) -> None:
        """Send a notification."""
        self._send({"method": method} | _given(params=params))

    def answer(self, id: RequestId, result: Any) -> None:
        """Answer an open request of theirs.

        This also works if they are gone, because the caller cannot know that. The line then has no
        reader.
        """
        self._close(id, {"result": result})

    def refuse(self, id: RequestId, code: int, message: str, data: Any = None) -> None:
        """Answer an open request of theirs with an error."""
        self._close(id, {"error": {"code": code, "message": message} | _given(data=data)})

    def lines_to_send(self) -> list[bytes]:
        """The lines to write since the last call, in order, each with its newline."""
        lines, self._lines = self._lines, []
        return lines

    def _close(self, id: RequestId, outcome: dict[str, Any]) -> None:
        if not _is_id(id) or id not in self._theirs:
            raise ProtocolError(f"request {id!r} is not open: never made, or answered before")
        self._send({"id": id} | outcome)
        del self._theirs[id]

    def _send(self, message: dict[str, Any]) -> None:
        """Queue a line. Raises before anything has changed, so that the caller can try again."""
        try:
            line = msgspec.json.encode(self._version | message)
        except (TypeError, ValueError, OverflowError, RecursionError) as exc:
            raise ProtocolError(f"cannot be written as JSON: {exc}") from exc
        self._lines.append(line + b"\n")

    def _send_error(self, id: RequestId | None, code: int, message: str) -> None:
        self._send({"id": id, "error": {"code": code, "message": message}})

    # Incoming lines.

    def _read(self, line: bytes, value: Any) -> Incoming:
        if isinstance(value, list):
            return Stray(raw=line, problem="a batch")
        if not isinstance(value, dict):
            return Stray(raw=line, problem="not an object")
        message = cast(dict[str, Any], value)
        if "method" in message:
            return self._read_call(line, message)
        if "result" in message or "error" in message:
            return self._read_answer(line, message)
        return Stray(raw=line, problem="neither a method nor a result nor an error")

    def _read_call(self, line: bytes, message: dict[str, Any]) -> Incoming:
        id, method, params = message.get("id"), message["method"], message.get("params")
        if "id" not in message:
            if not isinstance(method, str):
                return Stray(raw=line, problem="the method is not a string")
            return Notification(method=method, params=params)
        if not _is_id(id):
            self._send_error(None, INVALID_REQUEST, "the id is neither an integer nor a string")
            return Stray(raw=line, problem="refused: the id is neither an integer nor a string")
        if id in self._theirs:
            # Refusing would settle the first request of that id. Its answer serves for both.
            return Stray(raw=line, problem=f"a second request with the id {id!r}")
        if not isinstance(method, str):
            self._send_error(id, INVALID_REQUEST, "the method is not a string")
            return Stray(raw=line, problem="refused: the method is not a string")
        if self._handles is not None and method not in self._handles:
            self._send_error(id, METHOD_NOT_FOUND, f"unknown method {method!r}")
            return Stray(raw=line, problem=f"refused: unknown method {method!r}")
        self._theirs[id] = method
        return Request(id=id, method=method, params=params)

    def _read_answer(self, line: bytes, message: dict[str, Any]) -> Incoming:
        their_id, error = message.get("id"), message.get("error")
        if not _is_id(their_id):
            return Stray(raw=line, problem="an answer whose id is neither an integer nor a string")
        id = self._our_id(their_id)
        if id is None:
            return Stray(raw=line, problem=f"an answer to nothing we asked: id {their_id!r}")
        method = self._ours.pop(id)
        # Even if malformed, it ends our request: no other response will come.
        if error is None and "result" in message:
            return Response(id=id, method=method, result=message["result"])
        return ErrorResponse(id=id, method=method, error=_error_of(error))

    def _our_id(self, their_id: RequestId) -> int | None:
        if isinstance(their_id, int):
            return their_id if their_id in self._ours else None
        # Some peers echo our 7 as "7".
        return next((id for id in self._ours if str(id) == their_id), None)


def _is_id(value: Any) -> TypeGuard[RequestId]:
    # To Python, true and false are integers; to JSON-RPC they are not.
    return isinstance(value, int | str) and not isinstance(value, bool)


def _given(**optional: Any) -> dict[str, Any]:
    return {name: value for name, value in optional.items() if value is not None}


def _error_of(value: Any) -> RpcError:
    """Their error; kept whole as ``data`` if it is malformed."""
    error = cast(dict[str, Any], value) if isinstance(value, dict) else {"message": value}
    code, message = error.get("code"), error.get("message")
    if type(code) is int and isinstance(message, str):
        return RpcError(code=code, message=message, data=error.get("data"))
    return RpcError(
        code=code if type(code) is int else INTERNAL_ERROR,
        message=message if isinstance(message, str) else "an error without a message",
        data=cast(Any, value),
    )
