"""Our end of the control protocol: requests with ids, and the answers to theirs.

Every request of ours is answered once, by id. Every request of theirs must be answered once, or the agent
waits for ever: a request without a handler here is refused at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec

from dragoman.harnesses.contract.conversation import Refusal
from dragoman.wire.loose import as_dict, as_str

Then: TypeAlias = Callable[[dict[str, Any], Refusal | None], None]
"""Takes the result of a control request, or the refusal."""

_encode = msgspec.json.Encoder().encode
LEFT = "the agent's process ended"


class ControlChannel:
    """Control requests in both directions, and the lines to send, in order."""

    def __init__(self) -> None:
        self._last = 0
        self._waiting: dict[str, tuple[str, Then]] = {}
        self._lines: list[bytes] = []

    # To the other side.

    def send(self, line: dict[str, Any]) -> None:
        """Send one object."""
        self._lines.append(_encode(line) + b"\n")

    def request(self, subtype: str, then: Then, **fields: Any) -> None:
        """Ask; ``then`` is called once."""
        self._last += 1
        request_id = f"dragoman-{self._last}"
        self._waiting[request_id] = (subtype, then)
        request = {"subtype": subtype, **fields}
        self.send({"type": "control_request", "request_id": request_id, "request": request})

    def answer(self, request_id: str, response: dict[str, Any]) -> None:
        self._respond({"subtype": "success", "request_id": request_id, "response": response})

    def refuse(self, request_id: str, why: str) -> None:
        self._respond({"subtype": "error", "request_id": request_id, "error": why})

    def _respond(self, response: dict[str, Any]) -> None:
        self.send({"type": "control_response", "response": response})

    def lines_to_send(self) -> list[bytes]:
        lines, self._lines = self._lines, []
        return lines

    # From the other side.

    def receive_response(self, response: dict[str, Any]) -> None:
        """Take the answer to a request of ours; an answer to no request is passed over."""
        subtype, then = self._waiting.pop(as_str(response.get("request_id")) or "", ("", None))
        if then is None:
            return
        if response.get("subtype") == "success":
            then(as_dict(response.get("response")), None)
        else:
            why = as_str(response.get("error")) or "refused without a reason"
            is_unknown = response.get("error_code") == "unsupported_request"
            kind = "unsupported" if is_unknown else "response_error"
            then({}, Refusal(kind=kind, message=f"{subtype}: {why}"))

    def receive_eof(self) -> None:
        """No answer will come any more."""
        waiting, self._waiting = self._waiting, {}
        for _, then in waiting.values():
            then({}, Refusal(kind="port_exit", message=LEFT))
