"""How each decision about what Qwen Code asks is answered.

| asked | decision | answer |
|---|---|---|
| any tool | allow, also for longer | allow, with the input as it was |
| | deny | deny, with a message for the model; the turn continues |
| | cancel | deny; the turn is interrupted besides |
| ask_user_question | answered | allow, with the answers by the numbers of the questions |
"""

from __future__ import annotations

from typing import Any, Final

from dragoman.harnesses.qwen.questions import kind_of
from dragoman.harnesses.stream_json.driving.approvals import DENIED, STOPPED
from dragoman.model.intents import Decide
from dragoman.wire.loose import as_dict, as_list, as_str

_ALLOWING: Final = frozenset(("allow", "allow_for_session", "allow_always"))


def answer_to(request: dict[str, Any], intent: Decide) -> dict[str, Any] | None:
    """The answer to a request that carries out a decision; None if the decision does not answer it."""
    asked = as_dict(request.get("input"))
    if intent.decision == "deny":
        return {"behavior": "deny", "message": intent.message or DENIED}
    if intent.decision == "cancel":
        return {"behavior": "deny", "message": intent.message or STOPPED, "interrupt": True}
    if kind_of(as_str(request.get("tool_name")) or "") == "question":
        return _answered(asked, intent)
    if intent.decision not in _ALLOWING:
        return None
    return {"behavior": "allow", "updatedInput": asked}


def _answered(asked: dict[str, Any], intent: Decide) -> dict[str, Any] | None:
    if intent.decision not in ("answered", "allow"):
        return None
    answers: dict[str, str] = {}
    for place, question in enumerate(map(as_dict, as_list(asked.get("questions")))):
        names = (str(place), as_str(question.get("question")), as_str(question.get("header")))
        for name in names:
            if given := intent.answers.get(name or ""):
                answers.setdefault(str(place), ", ".join(given))
    return {"behavior": "allow", "updatedInput": {**asked, "answers": answers}} if answers else None
