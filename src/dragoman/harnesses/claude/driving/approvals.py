"""What Claude asks and still waits for: tool permissions, questions, plans, forms of MCP servers.

| asked | decision | answer |
|---|---|---|
| any tool | allow | allow, with the input as it was |
| | allow_for_session | and a rule for this session that covers just this |
| | allow_always | and the rule that Claude suggests, stored in its settings |
| | deny | deny, with a message for the model; the turn continues |
| | cancel | deny, and the turn stops |
| AskUserQuestion | answered | allow, with the answers in the input |
| elicitation | allow, answered; deny; cancel | accept with the form's content; decline; cancel |
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from dragoman.harnesses.claude.driving.control import ControlChannel
from dragoman.harnesses.claude.driving.rules import session_rules, suggested_rules
from dragoman.harnesses.contract.conversation import Refusal
from dragoman.model.forms import problems
from dragoman.model.intents import Decide
from dragoman.wire.loose import as_dict, as_list, as_str

QUESTION: Final = "AskUserQuestion"
EXIT_PLAN: Final = "ExitPlanMode"
PERMISSION: Final = "can_use_tool"
ELICITATION: Final = "elicitation"
_DENIED: Final = "The user does not allow this."
_STOPPED: Final = "The user does not allow this, and has stopped the turn."
_ALLOWING: Final = frozenset(("allow", "allow_for_session", "allow_always"))


class _Asked(NamedTuple):
    request_id: str
    request: dict[str, Any]


class OpenApprovals:
    """The requests that wait for a decision, by the id that their messages have."""

    def __init__(self, channel: ControlChannel) -> None:
        self._channel = channel
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

    def is_plan(self, approval_id: str) -> bool:
        """Whether this asks to leave plan mode."""
        asked = self._open.get(approval_id)
        return asked is not None and asked.request.get("tool_name") == EXIT_PLAN

    def decide(self, intent: Decide) -> Refusal | None:
        """Answer what is open under this id; or why that is not possible."""
        asked = self._open.get(intent.approval_id)
        if asked is None:
            said = (
                f"nothing is open under {intent.approval_id!r}: it was settled, or its turn is over"
            )
            return Refusal(kind="response_error", message=said)
        is_form = asked.request.get("subtype") == ELICITATION
        answer = _form(asked.request, intent) if is_form else _permission(asked.request, intent)
        if answer is None:
            what = as_str(asked.request.get("tool_name")) or ELICITATION
            said = f"{intent.decision!r} does not answer a request about {what}"
            return Refusal(kind="response_error", message=said)
        del self._open[intent.approval_id]
        self._channel.answer(asked.request_id, answer)
        return None


def _permission(request: dict[str, Any], intent: Decide) -> dict[str, Any] | None:
    tool, asked = as_str(request.get("tool_name")) or "", as_dict(request.get("input"))
    if intent.decision == "deny":
        return {"behavior": "deny", "message": intent.message or _DENIED}
    if intent.decision == "cancel":
        return {
            "behavior": "deny",
            "message": intent.message or _STOPPED,
            "interrupt": True,
        }
    if tool == QUESTION:
        return _answered(asked, intent)
    if intent.decision not in _ALLOWING:
        return None
    answer: dict[str, Any] = {"behavior": "allow", "updatedInput": asked}
    updates: list[dict[str, Any]] = []
    if intent.decision == "allow_always":
        updates = suggested_rules(request.get("permission_suggestions"))
    if intent.decision != "allow":
        updates = updates or session_rules(tool, asked)
    return {**answer, "updatedPermissions": updates} if updates else answer


def _answered(asked: dict[str, Any], intent: Decide) -> dict[str, Any] | None:
    """The answers, by the text of each question; several choices are joined by commas."""
    if intent.decision not in ("answered", "allow"):
        return None
    answers: dict[str, str] = {}
    for question in map(as_dict, as_list(asked.get("questions"))):
        text = as_str(question.get("question"))
        name = as_str(question.get("id"))
        given = intent.answers.get(name or "") or intent.answers.get(text or "")
        if text is not None and given:
            answers[text] = ", ".join(given)
    if not answers:
        return None
    return {"behavior": "allow", "updatedInput": {**asked, "answers": answers}}


def _form(request: dict[str, Any], intent: Decide) -> dict[str, Any] | None:
    match intent.decision:
        case "deny":
            return {"action": "decline"}
        case "cancel":
            return {"action": "cancel"}
        case "answered" | "allow" | "allow_for_session" | "allow_always":
            schema = request.get("requested_schema")
            if not schema or request.get("mode") == "url":
                return {"action": "accept"}
            content = intent.content or {}
            return None if problems(schema, content) else {"action": "accept", "content": content}
        case _:
            return None
