"""Whether a decision fits what was asked.

| asked | fits |
|---|---|
| command, edit, permissions, tool | allow, allow_for_session, allow_always; deny, cancel |
| question | answered, with an answer to each question; deny, cancel |
| elicitation | allow or answered, with content that fits the form; deny, cancel |

A decision that does not fit would be no answer: the agent would wait for one for ever. Nothing here raises,
whatever the types of what is given, and no sentence repeats an answer: it may be a secret.
"""

from __future__ import annotations

from typing import Any, Final, cast

from dragoman.model.forms import problems
from dragoman.model.messages import ApprovalRequested

ALLOWING: Final = ("allow", "allow_for_session", "allow_always")
REFUSING: Final = ("deny", "cancel")
DECISIONS: Final = (*ALLOWING, *REFUSING, "answered")


def unfit(
    request: ApprovalRequested,
    decision: Any,
    answers: Any = None,
    content: Any = None,
    *,
    offered_only: bool = False,
) -> str | None:
    """Why the decision does not fit, as a sentence; None: it does.

    A decision that lasts longer than the request can remember fits as the nearest that allows no more;
    with ``offered_only`` it must be one of the request's own choices.
    """
    if not isinstance(decision, str) or decision not in DECISIONS:
        return f"unknown decision {decision!r}; known: {', '.join(DECISIONS)}"
    if decision in REFUSING:
        return None
    if request.kind == "question":
        return _question(request, decision, answers, content)
    if answers:
        return f"answers are for questions, and this is {_NAMES[request.kind]}"
    if request.kind == "elicitation":
        wrong = _elicitation(request, content)
        if wrong is not None:
            return wrong
    elif decision == "answered":
        return f"'answered' does not decide about {_NAMES[request.kind]}: allow or deny it"
    elif content:
        return f"content is for forms, and this is {_NAMES[request.kind]}"
    offered = [choice for choice in request.choices if choice in DECISIONS]
    if offered_only and offered and decision not in (*offered, "answered"):
        return f"{decision!r} is not on offer here; on offer: {', '.join(offered)}"
    return None


_NAMES: Final[dict[str, str]] = {
    "command": "a command",
    "edit": "an edit",
    "permissions": "a request for permissions",
    "tool": "a call of a tool",
    "elicitation": "a form",
    "question": "a question",
}


def _elicitation(request: ApprovalRequested, content: Any) -> str | None:
    if request.form is None:
        return "this asks for a yes or a no, and not for content" if content else None
    wrong = problems(request.form, {} if content is None else content)
    return f"the form cannot be sent: {'; '.join(wrong)}" if wrong else None


def _question(request: ApprovalRequested, decision: str, answers: Any, content: Any) -> str | None:
    if content:
        return "content is for forms; a question is answered with 'answers'"
    if decision not in ("answered", "allow") or not answers:
        return "a question is answered with 'answered' and an answer to each question"
    if not isinstance(answers, dict):
        return "answers are an object: a list of texts for each question"
    given = cast("dict[Any, Any]", answers)
    asked = [
        cast("dict[str, Any]", each)
        for each in _list(request.detail.get("questions"))
        if isinstance(each, dict)
    ]
    names = {name for each in asked for name in (each.get("id"), each.get("question"))}
    for name in given:
        if name not in names:
            return f"there is no question {name!r}"
    for each in asked:
        wrong = _answer(each, given)
        if wrong is not None:
            return wrong
    return None


def _answer(question: dict[str, Any], given: dict[Any, Any]) -> str | None:
    name = question.get("id")
    answer: Any = given.get(name, given.get(question.get("question")))
    if answer is None:
        return f"there is no answer to the question {name!r}"
    texts = _list(answer)
    if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
        return f"the answer to {name!r} must be a list of texts that are not empty"
    labels = [
        cast("dict[str, Any]", option).get("label")
        for option in _list(question.get("options"))
        if isinstance(option, dict)
    ]
    if labels and question.get("isOther") is not True and any(t not in labels for t in texts):
        return f"the answer to {name!r} must be one of {', '.join(map(str, labels))}"
    return None


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
