"""What the agent asks and still waits for, and the answer that a decision becomes.

| decision | answer |
|---|---|
| allow | the option that allows this once |
| allow_for_session | the option that the agent forgets with the session, else the one for once |
| allow_always | the option that the agent keeps, else one for the session, else the one for once |
| deny | the option that rejects this once, else the one that always does, else ``cancelled`` |
| cancel | ``cancelled``, and the turn is interrupted |

The protocol has no place for a message with a refusal.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from dragoman.harnesses.acp.approvals import (
    ALLOW,
    ALLOW_ALWAYS,
    ALLOW_FOR_SESSION,
    CANCEL,
    DENY,
    decision_of,
)
from dragoman.harnesses.acp.quirks import AcpQuirks
from dragoman.harnesses.contract.conversation import Refusal
from dragoman.model.forms import problems
from dragoman.model.intents import Decide
from dragoman.wire.jsonrpc import Request, RequestId
from dragoman.wire.loose import as_dict, as_list, as_str

_CANCELLED: Final[dict[str, Any]] = {"outcome": {"outcome": "cancelled"}}
_NEAREST: Final = {
    ALLOW: (ALLOW,),
    ALLOW_FOR_SESSION: (ALLOW_FOR_SESSION, ALLOW),
    ALLOW_ALWAYS: (ALLOW_ALWAYS, ALLOW_FOR_SESSION, ALLOW),
    DENY: (DENY,),
}


class _Open(NamedTuple):
    id: RequestId
    method: str
    params: dict[str, Any]


class AcpDecisions:
    """The requests that wait for a decision, by the id that their messages have."""

    def __init__(self) -> None:
        self._open: dict[str, _Open] = {}

    def add(self, approval_id: str, request: Request) -> None:
        self._open[approval_id] = _Open(request.id, request.method, as_dict(request.params))

    def cancel_all(self) -> list[tuple[RequestId, dict[str, Any]]]:
        """The answers to everything that is open: nothing of it will be decided."""
        waiting, self._open = self._open, {}
        return [(each.id, _cancelled(each)) for each in waiting.values()]

    def drop_all(self) -> None:
        self._open.clear()

    def answer(
        self, intent: Decide, quirks: AcpQuirks
    ) -> tuple[RequestId, dict[str, Any]] | Refusal:
        """The answer to what is open under this id; or why there is none."""
        asked = self._open.get(intent.approval_id)
        if asked is None:
            said = (
                f"nothing is open under {intent.approval_id!r}: it was settled, or its turn is over"
            )
            return Refusal(kind="response_error", message=said)
        is_form = asked.method == "elicitation/create"
        answer = _form(asked, intent) if is_form else _permission(asked, intent, quirks)
        if answer is None:
            said = f"{intent.decision!r} does not answer {asked.method}"
            return Refusal(kind="response_error", message=said)
        del self._open[intent.approval_id]
        return asked.id, answer


def _cancelled(asked: _Open) -> dict[str, Any]:
    return {"action": "cancel"} if asked.method == "elicitation/create" else _CANCELLED


def _permission(asked: _Open, intent: Decide, quirks: AcpQuirks) -> dict[str, Any] | None:
    if intent.decision == CANCEL:
        return _CANCELLED
    options = [as_dict(each) for each in as_list(asked.params.get("options"))]
    for wanted in _NEAREST.get(intent.decision, ()):
        for option in sorted(options, key=lambda each: each.get("kind") == "reject_always"):
            name = as_str(option.get("optionId"))
            if name is not None and decision_of(option, quirks) == wanted:
                return {"outcome": {"outcome": "selected", "optionId": name}}
    return _CANCELLED if intent.decision == DENY else None


def _form(asked: _Open, intent: Decide) -> dict[str, Any] | None:
    match intent.decision:
        case "deny":
            return {"action": "decline"}
        case "cancel":
            return {"action": "cancel"}
        case "answered" | "allow" | "allow_for_session" | "allow_always":
            schema = as_dict(asked.params.get("requestedSchema"))
            if not schema or asked.params.get("mode") == "url":
                return {"action": "accept"}
            content = intent.content or {}
            return None if problems(schema, content) else {"action": "accept", "content": content}
        case _:
            return None
