from __future__ import annotations

from typing import Any

import pytest

from dragoman.drive.approvals.unreadable import command_of, problem_with
from dragoman.model.messages import ApprovalKind, ApprovalRequested


def _request(kind: ApprovalKind, detail: dict[str, Any], **more: Any) -> ApprovalRequested:
    return ApprovalRequested(approval_id="a", kind=kind, detail=detail, **more)


@pytest.mark.parametrize(
    "request_",
    [
        _request("command", {}, command="ls"),
        _request("command", {"command": "ls"}),
        _request("command", {}, argv=["ls"]),
        _request("edit", {"changes": [{"path": "a"}]}),
        _request("edit", {"grant_root": "/w"}),
        _request("permissions", {"permissions": {"network": True}}),
        _request("permissions", {"network": {"host": "example.org"}}),
        _request("question", {"questions": [{"question": "Which?"}]}),
        _request("tool", {"server": "x"}),
        _request("elicitation", {}, summary="Name?"),
    ],
)
def test_a_request_that_says_what_it_wants_can_be_judged(request_: ApprovalRequested) -> None:
    assert problem_with(request_) is None


@pytest.mark.parametrize(
    "request_",
    [
        _request("command", {}),
        _request("command", {"command": None}),
        _request("command", {"command": {}}),
        _request("command", {}, command="\ud800"),
        _request("command", {}, command="ls\0"),
        _request("command", {"command": "ls"}, argv=["\udfff"]),
        _request("edit", {}),
        _request("edit", {"changes": "a"}),
        _request("edit", {"changes": [{"path": "a\0"}]}),
        _request("edit", {"changes": [{"path": "a"}, {}]}),
        _request("permissions", {"permissions": {}}),
        _request("question", {}),
        _request("tool", {}),
        _request("elicitation", {}),
    ],
)
def test_a_request_that_does_not_is_named(request_: ApprovalRequested) -> None:
    assert (problem_with(request_) or "").startswith("it ")


def test_the_words_of_a_command_count_before_its_line_and_the_line_before_its_script() -> None:
    assert command_of(_request("command", {"command": "c"}, command="b", argv=["a"])) == ["a"]
    assert command_of(_request("command", {"command": "c"}, command="b")) == "b"
    assert command_of(_request("command", {"command": "c"})) == "c"
