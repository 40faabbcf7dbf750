from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from dragoman.model.messages import AlwaysAllow, ApprovalKind, ApprovalRequested
from dragoman.web.page.approvals import ask
from support.page.checks import check


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
    options = [{"label": "A", "description": "d"}]
    questions = [{"id": "q", "question": "Which?", "options": options, "isOther": True}]
    form = asked("question", detail={"questions": questions})

    assert 'data-question="q"' in form
    assert 'type="radio" name="q0" value="A"' in form
    assert 'value="answered"' in form


def test_a_form_is_made_of_its_schema() -> None:
    properties = {
        "name": {"type": "string", "title": "Your name", "description": "In full."},
        "count": {"type": "integer", "default": 3},
        "sure": {"type": "boolean", "default": True},
        "size": {"type": "string", "enum": ["s", "m"], "enumNames": ["Small", "Medium"]},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "default": ["b"]},
        "days": {"type": "array", "items": {"type": "integer"}},
        "mail": {"type": "string", "format": "email"},
    }
    form = asked(
        "elicitation",
        summary="Who?",
        detail={"server": "srv"},
        form={"type": "object", "properties": properties, "required": ["name"]},
        choices=["allow", "deny"],
    )

    assert form.count('class="required"') == 1
    assert "In full." in form
    assert 'type="number" step="1" value="3"' in form
    assert 'type="checkbox" checked data-field="sure"' in form
    assert '<option value="&quot;s&quot;">Small</option>' in form
    assert 'value="&quot;b&quot;" checked' in form
    assert 'data-items="integer"' in form
    assert 'type="email"' in form
    assert "from srv" in form
    assert ">Send<" in form


@pytest.mark.parametrize("schema", [{}, {"properties": 7}, {"properties": {"a": "x", "b": None}}])
def test_an_odd_schema_is_a_form_all_the_same(schema: dict[str, Any]) -> None:
    assert "<form" in asked("elicitation", summary="Who?", form=schema)


def test_an_address_is_shown_whole_and_is_a_link_only_to_the_web() -> None:
    form = asked(
        "elicitation", summary="Sign in.", url="https://example.com/a?b=1", choices=["allow"]
    )
    assert "https://example.com/a?b=1" in form
    assert 'target="_blank" rel="noopener noreferrer"' in form
    assert "Open example.com in a new tab" in form
    for odd in ("javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "http://[", "x"):
        form = asked("elicitation", summary="Sign in.", url=odd)
        assert odd in form
        assert "<a " not in form


def test_a_command_is_shown_as_it_will_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/zsh")
    usual = asked(
        "command", command="/bin/zsh -lc 'ls -l'", shell="/bin/zsh -lc", detail={"command": "ls -l"}
    )
    assert "ls -l</pre>" in usual
    assert "/bin/zsh" not in usual
    odd = asked(
        "command",
        command="/ws/bash -lc 'ls -l'",
        shell="/ws/bash -lc",
        cwd="/elsewhere",
        detail={"command": "ls -l"},
    )
    assert "/ws/bash -lc &#x27;ls -l&#x27;" in odd or "/ws/bash -lc 'ls -l'" in odd
    assert "in /elsewhere, with /ws/bash -lc" in odd
    assert "with bash &#x27;" in (broken := asked("command", command="x", shell="bash '")) or (
        "with bash '" in broken
    )


def test_what_would_be_remembered_is_said_with_its_place() -> None:
    always = AlwaysAllow(prefix=["git", "push"], stored_in="/home/u/.codex/rules/default.rules")
    form = asked("command", summary="git push", choices=["allow", "allow_always"], always=always)
    assert "commands that start with <code>git push</code>" in form
    assert "<code>/home/u/.codex/rules/default.rules</code>" in form
    without = asked("command", summary="git push", choices=["allow"], always=always)
    assert "remembers" not in without


def test_a_question_without_other_answers_has_no_room_for_one() -> None:
    option = {"id": "q", "question": "Which?", "options": [{"label": "A"}]}
    assert 'class="own"' not in asked("question", detail={"questions": [option]})
    other = {**option, "isOther": True, "isSecret": True}
    assert 'type="password" class="own"' in asked("question", detail={"questions": [other]})


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
