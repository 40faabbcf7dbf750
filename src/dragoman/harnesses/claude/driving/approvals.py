"""What Claude asks and still waits for: tool permissions, questions, plans, forms of MCP servers.

| asked | decision | answer |
|---|---|---|
| any tool | allow | allow, with the input as it was |
| | allow_for_session | and a rule for this session that covers just this |
| | allow_always | and the rule that Claude suggests, stored in its settings |
| | deny | deny, with a message for the model; the turn continues |
| | cancel | deny, and the turn stops |
| AskUserQuestion | answered | allow, with the answers in the input |
| elicitation | allow, answered; deny | accept with the form's content; decline |
| | cancel | cancel; the turn is interrupted besides |
"""

from __future__ import annotations

from typing import Any, Final

from dragoman.harnesses.claude.driving.rules import session_rules, suggested_rules
from dragoman.harnesses.stream_json.driving.approvals import DENIED, ELICITATION, STOPPED
from dragoman.model.forms import problems
from dragoman.model.intents import Decide
from dragoman.wire.loose import as_dict, as_list, as_str

QUESTION: Final = "AskUserQuestion"
EXIT_PLAN: Final = "ExitPlanMode"
_ALLOWING: Final = frozenset(("allow", "allow_for_session", "allow_always"))


def answer_to(request: dict[str, Any], intent: Decide) -> dict[str, Any] | None:
    """The answer to a request that carries out a decision; None if the decision does not answer it."""
    is_form = request.get("subtype") == ELICITATION
    return _form(request, intent) if is_form else _permission(request, intent)


def _permission(request: dict[str, Any], intent: Decide) -> dict[str, Any] | None:
    tool, asked = as_str(request.get("tool_name")) or "", as_dict(request.get("input"))
    if intent.decision == "deny":
        return {"behavior": "deny", "message": intent.message or DENIED}
    if intent.decision == "cancel":
        return {
            "behavior": "deny",
            "message": intent.message or STOPPED,
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
