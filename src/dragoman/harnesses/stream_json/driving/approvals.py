"""What the agent asks and still waits for, and the answers to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

from dragoman.harnesses.contract.conversation import Refusal
from dragoman.harnesses.stream_json.driving.channel import ControlChannel
from dragoman.model.intents import Decide
from dragoman.wire.loose import as_str

PERMISSION: Final = "can_use_tool"
ELICITATION: Final = "elicitation"
DENIED: Final = "The user does not allow this."
STOPPED: Final = "The user does not allow this, and has stopped the turn."

AnswerTo: TypeAlias = Callable[[dict[str, Any], Decide], "dict[str, Any] | None"]
"""The answer to a request that carries out a decision; None if the decision does not answer it."""


class _Asked(NamedTuple):
    request_id: str
    request: dict[str, Any]


class OpenApprovals:
    """The requests that wait for a decision, by the id that their messages have."""

    def __init__(self, channel: ControlChannel, answer_to: AnswerTo) -> None:
        self._channel = channel
        self._answer_to = answer_to
        self._open: dict[str, _Asked] = {}

    def add(self, approval_id: str, request_id: str, request: dict[str, Any]) -> None:
        self._open[approval_id] = _Asked(request_id, request)

    def cancel(self, request_id: str) -> None:
        """The agent needs no answer to this request any more."""
        self._open = {k: asked for k, asked in self._open.items() if asked.request_id != request_id}

    def refuse_all(self, why: str) -> None:
        """The turn was given up, so no decision will come; the agent may still wait."""
        for asked in self._open.values():
            self._channel.refuse(asked.request_id, why)
        self._open.clear()

    def drop_all(self) -> None:
        self._open.clear()

    def tool_of(self, approval_id: str) -> str | None:
        """The tool that is asked about."""
        asked = self._open.get(approval_id)
        return as_str(asked.request.get("tool_name")) if asked is not None else None

    def is_form(self, approval_id: str) -> bool:
        """Whether an MCP server asks, and not the agent."""
        asked = self._open.get(approval_id)
        return asked is not None and asked.request.get("subtype") == ELICITATION

    def decide(self, intent: Decide) -> Refusal | None:
        """Answer what is open under this id; or why that is not possible."""
        asked = self._open.get(intent.approval_id)
        if asked is None:
            said = (
                f"nothing is open under {intent.approval_id!r}: it was settled, or its turn is over"
            )
            return Refusal(kind="response_error", message=said)
        answer = self._answer_to(asked.request, intent)
        if answer is None:
            what = as_str(asked.request.get("tool_name")) or ELICITATION
            said = f"{intent.decision!r} does not answer a request about {what}"
            return Refusal(kind="response_error", message=said)
        del self._open[intent.approval_id]
        self._channel.answer(asked.request_id, answer)
        return None
