"""Approvals that wait for a decision, and how each is answered."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from dragoman.model.intents import Decide
from dragoman.model.messages import ApprovalRequested

_PERMISSION: Final = "session.permissions.handlePendingPermissionRequest"
_QUESTION: Final = "session.ui.handlePendingUserInput"
_ELICITATION: Final = "session.ui.handlePendingElicitation"
_EXIT_PLAN: Final = "session.ui.handlePendingExitPlanMode"
_DENIED: Final = "The user denied this. Continue without it."
_ALLOWED: Final = frozenset(("allow", "allow_for_session", "allow_always"))


class CopilotApproval(NamedTuple):
    """One that waits."""

    session_id: str
    """The session in the server's words; a sub-agent's approval belongs to the session above it."""
    asked: ApprovalRequested


class Reply(NamedTuple):
    """The method that settles it, and its parameters."""

    method: str
    params: dict[str, Any]


def reply_to(approval: CopilotApproval, intent: Decide) -> Reply:
    """The answer to what was asked. What is not clearly allowed is denied."""
    asked = approval.asked
    base = {"sessionId": approval.session_id, "requestId": asked.approval_id}
    allowed = intent.decision in _ALLOWED
    if asked.kind == "question":
        given = [text for texts in intent.answers.values() for text in texts]
        answer = {"answer": "\n".join(given), "wasFreeform": True}
        return Reply(_QUESTION, {**base, "response": answer})
    if asked.kind == "elicitation":
        action = "accept" if allowed or intent.decision == "answered" else "decline"
        action = "cancel" if intent.decision == "cancel" else action
        result: dict[str, Any] = {"action": action}
        if action == "accept":
            result["content"] = intent.content or {}
        return Reply(_ELICITATION, {**base, "result": result})
    if asked.tool == "ExitPlanMode":
        response: dict[str, Any] = {"approved": allowed}
        if allowed:
            response["selectedAction"] = "interactive"
        elif intent.message:
            response["feedback"] = intent.message
        return Reply(_EXIT_PLAN, {**base, "response": response})
    if not allowed:
        # Without a word to the model, Copilot ends the whole turn.
        word = intent.message or (_DENIED if intent.decision != "cancel" else None)
        refusal = {"kind": "reject", **({"feedback": word} if word else {})}
        return Reply(_PERMISSION, {**base, "result": refusal})
    lasts = intent.decision != "allow" and "allow_for_session" in asked.choices
    kind = "approve-for-session" if lasts else "approve-once"
    return Reply(_PERMISSION, {**base, "result": {"kind": kind}})
