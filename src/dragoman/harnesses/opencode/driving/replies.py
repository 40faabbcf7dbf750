"""Approvals that wait for a decision, and how each is answered."""

from __future__ import annotations

from typing import Any, Final, NamedTuple
from urllib.parse import quote

from dragoman.model.intents import Decide
from dragoman.model.messages import ApprovalRequested
from dragoman.wire.loose import as_dict, as_list, as_str

_DENIED: Final = "The user denied this. Continue without it."
_ALLOWED: Final = frozenset(("allow", "allow_for_session", "allow_always"))


class WaitingApproval(NamedTuple):
    """One that waits."""

    session_id: str
    asked: ApprovalRequested


class HttpReply(NamedTuple):
    """The request that settles it."""

    path: str
    body: dict[str, Any]


def reply_for(asked: ApprovalRequested, intent: Decide) -> HttpReply:
    """The answer to what was asked. What is not clearly allowed is denied.

    ``always`` is never sent: it would hold for every session of the server.
    """
    name = quote(asked.approval_id, safe="")
    if asked.kind == "question":
        if intent.decision in ("answered", *_ALLOWED):
            return HttpReply(f"/question/{name}/reply", {"answers": _answers(asked, intent)})
        return HttpReply(f"/question/{name}/reject", {})
    path = f"/permission/{name}/reply"
    if intent.decision in _ALLOWED:
        return HttpReply(path, {"reply": "once"})
    # Without a word to the model, opencode ends the whole turn.
    word = intent.message or (_DENIED if intent.decision != "cancel" else None)
    return HttpReply(path, {"reply": "reject", **({"message": word} if word else {})})


def _answers(asked: ApprovalRequested, intent: Decide) -> list[list[str]]:
    """The answers in the order of the questions."""
    answers: list[list[str]] = []
    for question in map(as_dict, as_list(asked.detail.get("questions"))):
        names = (as_str(question.get("id")), as_str(question.get("question")))
        given = next((intent.answers[each] for each in names if each in intent.answers), None)
        answers.append(given or [])
    return answers
