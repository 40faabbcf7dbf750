from __future__ import annotations

from dragoman.cli.approvals.questions import Asked, Suggested, questions
from dragoman.model.messages import ApprovalRequested


def test_each_question_has_its_answers() -> None:
    given = [
        {"id": "c", "question": "Which?", "options": [{"label": "Red", "description": "warm"}, 7]},
        {"question": "Password?", "isSecret": True},
        "nonsense",
    ]
    request = ApprovalRequested(approval_id="q", kind="question", detail={"questions": given})

    assert questions(request) == [
        Asked("c", "Which?", [Suggested("Red", "warm")]),
        Asked("Password?", "Password?", [], is_secret=True),
    ]


def test_whatever_was_sent_there_is_something_to_answer() -> None:
    request = ApprovalRequested(approval_id="q", kind="question", summary="Well?", choices=["Yes"])

    assert questions(request) == [Asked("Well?", "Well?", [Suggested("Yes")])]
