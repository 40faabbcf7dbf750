from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from dragoman.model.messages import ApprovalKind, ApprovalRequested
from dragoman.web.page.asks import ask
from page_checks import check


def asked(kind: ApprovalKind, **given: Any) -> str:
    return ask(ApprovalRequested(approval_id="a", kind=kind, **given))


def test_a_command_is_shown_whole_with_its_place_and_reason() -> None:
    command = "rm -rf x\n" * 60
    form = asked("command", summary=command, detail={"cwd": "/work", "reason": "Because."})

    assert form.count("rm -rf x") == 60
    assert "in /work" in form
    assert "Because." in form


def test_only_what_the_release_offers_can_be_pressed() -> None:
    form = asked("command", summary="ls", choices=["deny", "allow", "something new"])

    assert form.index('value="allow"') < form.index('value="deny"')
    assert form.count("<button") == 2


def test_without_an_offer_there_is_yes_and_no() -> None:
    assert asked("tool", summary="x").count("<button") == 2


def test_changes_are_shown_as_a_diff() -> None:
    change = {"path": "a.py", "kind": "update", "diff": "@@ -1 +1 @@\n-a\n+b\n"}

    assert 'class="hunks"' in asked("edit", detail={"changes": [change]})


def test_a_question_has_its_answers_and_room_for_another() -> None:
    questions = [{"id": "q", "question": "Which?", "options": [{"label": "A", "description": "d"}]}]
    form = asked("question", detail={"questions": questions})

    assert 'data-question="q"' in form
    assert 'type="radio" name="q0" value="A"' in form
    assert 'value="answered"' in form


def test_a_form_is_made_of_its_schema() -> None:
    properties = {
        "name": {"type": "string", "title": "Your name"},
        "count": {"type": "integer"},
        "sure": {"type": "boolean"},
        "size": {"enum": ["S", "M"]},
        "odd": "not a schema",
    }
    form = asked(
        "elicitation",
        summary="Who?",
        detail={"server": "srv", "requestedSchema": {"properties": properties}},
        choices=["allow", "deny"],
    )

    assert "Your name" in form
    assert 'type="number" data-field="count"' in form
    assert 'type="checkbox" data-field="sure"' in form
    assert "<option>S</option>" in form
    assert "odd" not in form
    assert "from srv" in form


def test_the_deadline_is_told() -> None:
    at = datetime(2026, 11, 3, tzinfo=UTC)
    request = ApprovalRequested(approval_id="a", kind="command")

    assert 'data-deadline="2026-11-03T00:00:00+00:00"' in ask(request, at)


ODD: list[dict[str, Any]] = [{}, {"questions": 3}, {"questions": [1, {}]}, {"schema": []}]


@pytest.mark.parametrize("detail", ODD)
def test_whatever_is_asked_is_a_form(detail: dict[str, Any]) -> None:
    kinds: list[ApprovalKind] = [
        "command",
        "edit",
        "permissions",
        "question",
        "elicitation",
        "tool",
    ]
    for kind in kinds:
        check(asked(kind, detail={**detail, "permissions": {"a": 1}}))
