"""What answers what: a decision that would leave the agent waiting does not fit."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.model.fitting import DECISIONS, unfit
from dragoman.model.messages import ApprovalKind, ApprovalRequested

KINDS: tuple[Any, ...] = get_args(ApprovalKind)
PLAIN: list[Any] = ["command", "edit", "permissions", "tool"]
COLOURS = {
    "id": "colour",
    "question": "Which colour?",
    "options": [{"label": "Red"}, {"label": "Blue"}],
}
FORM: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name"],
}


def asked(kind: Any, **more: Any) -> ApprovalRequested:
    return ApprovalRequested(approval_id="a", kind=kind, **more)


def question(*asks: dict[str, Any]) -> ApprovalRequested:
    return asked("question", detail={"questions": list(asks)})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("word", ["deny", "cancel"])
def test_a_refusal_always_fits(kind: Any, word: str) -> None:
    assert unfit(asked(kind, form=FORM), word, offered_only=True) is None


@pytest.mark.parametrize("kind", PLAIN)
def test_what_is_allowed_or_denied_is_not_answered(kind: Any) -> None:
    for word in ("allow", "allow_for_session", "allow_always"):
        assert unfit(asked(kind), word) is None
    assert "does not decide" in (unfit(asked(kind), "answered") or "")
    assert "answers are for questions" in (unfit(asked(kind), "allow", {"q": ["x"]}) or "")
    assert "content is for forms" in (unfit(asked(kind), "allow", None, {"x": 1}) or "")


@pytest.mark.parametrize("word", ["", "ask", "approved", "Allow", 1, None, True, ["allow"]])
@pytest.mark.parametrize("kind", KINDS)
def test_a_word_that_is_no_decision_fits_nothing(kind: Any, word: Any) -> None:
    assert "unknown decision" in (unfit(asked(kind), word) or "")


def test_a_person_chooses_among_what_is_on_offer() -> None:
    request = asked("command", choices=["allow", "deny", "cancel"])
    assert unfit(request, "allow_always") is None
    said = unfit(request, "allow_always", offered_only=True)
    assert said == "'allow_always' is not on offer here; on offer: allow, deny, cancel"


@pytest.mark.parametrize(
    ("word", "answers"),
    [
        ("allow", None),
        ("allow", {}),
        ("allow_always", {"colour": ["Red"]}),
        ("answered", None),
        ("answered", {}),
        ("answered", {"colour": []}),
        ("answered", {"colour": [""]}),
        ("answered", {"colour": "Red"}),
        ("answered", {"colour": [3]}),
        ("answered", {"colour": ["Green"]}),
        ("answered", {"size": ["L"]}),
        ("answered", {"colour": ["Red"], "size": ["L"]}),
        ("answered", ["Red"]),
        ("answered", 7),
    ],
)
def test_what_does_not_answer_a_question(word: str, answers: Any) -> None:
    assert unfit(question(COLOURS), word, answers) is not None


def test_each_question_is_answered_by_its_id_or_its_text() -> None:
    size = {"id": "size", "question": "Which size?"}
    request = question(COLOURS, size)
    assert unfit(request, "answered", {"colour": ["Red"], "Which size?": ["large"]}) is None
    assert (
        unfit(request, "answered", {"colour": ["Red"]})
        == "there is no answer to the question 'size'"
    )


def test_another_answer_than_those_on_offer_fits_where_the_question_says_so() -> None:
    assert unfit(question({**COLOURS, "isOther": True}), "answered", {"colour": ["Green"]}) is None
    said = unfit(question(COLOURS), "answered", {"colour": ["hunter2"]})
    assert said == "the answer to 'colour' must be one of Red, Blue"


def test_a_form_is_filled_in_as_its_schema_says() -> None:
    request = asked("elicitation", form=FORM)
    assert unfit(request, "allow", None, {"name": "Ada", "age": 3}) is None
    assert unfit(request, "answered", None, {"name": "Ada"}) is None
    assert unfit(request, "allow") == "the form cannot be sent: name is required"
    assert unfit(request, "allow", None, {"name": "Ada", "age": "x"}) == (
        "the form cannot be sent: age must be a whole number"
    )
    assert unfit(request, "allow", None, ["Ada"]) is not None


def test_a_form_without_required_fields_and_an_address_need_only_a_yes() -> None:
    assert unfit(asked("elicitation", form={"type": "object", "properties": {}}), "allow") is None
    assert unfit(asked("elicitation", url="https://example.com"), "allow") is None
    assert unfit(asked("elicitation", url="https://example.com"), "allow", None, {"x": 1})


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    kind=st.sampled_from(KINDS),
    word=st.sampled_from(DECISIONS) | _ANY,
    answers=_ANY,
    content=_ANY,
    questions=_ANY,
    form=st.none() | st.dictionaries(st.text(max_size=5), _ANY, max_size=3),
)
def test_nothing_raises(
    kind: Any, word: Any, answers: Any, content: Any, questions: Any, form: Any
) -> None:
    request = asked(kind, detail={"questions": questions}, form=form)
    said = unfit(request, word, answers, content)
    assert said is None or isinstance(said, str)
