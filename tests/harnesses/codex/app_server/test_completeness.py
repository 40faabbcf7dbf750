"""Requests that do not say what is to be decided: refused at once, and never put before a policy."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.harnesses.codex.app_server.client.conversation import AppServerConversation
from dragoman.harnesses.codex.app_server.client.decisions import DECIDED
from dragoman.harnesses.codex.app_server.parser import AppServerParser
from dragoman.model.messages import ApprovalRequested, Message, Unknown

_OPEN = [
    {"method": "thread/started", "params": {"thread": {"id": "t1", "cwd": "/work"}}},
    {"method": "turn/started", "params": {"threadId": "t1", "turn": {"id": "u1"}}},
]
_IN = {"threadId": "t1", "turnId": "u1"}
_FORM: dict[str, Any] = {"type": "object", "properties": {}}
GOOD: dict[str, dict[str, Any]] = {
    "item/commandExecution/requestApproval": {
        **_IN,
        "itemId": "c",
        "command": "ls",
        "cwd": "/work",
    },
    "item/fileChange/requestApproval": {**_IN, "itemId": "c", "grantRoot": "/work"},
    "item/permissions/requestApproval": {**_IN, "itemId": "c", "permissions": {"network": {}}},
    "item/tool/requestUserInput": {
        **_IN,
        "itemId": "c",
        "questions": [{"id": "q", "question": "Which?"}],
    },
    "mcpServer/elicitation/request": {
        **_IN,
        "serverName": "s",
        "mode": "form",
        "message": "?",
        "requestedSchema": _FORM,
    },
    "execCommandApproval": {"conversationId": "t1", "callId": "c", "command": ["ls"]},
    "applyPatchApproval": {
        "conversationId": "t1",
        "callId": "c",
        "fileChanges": {"a": {"delete": {}}},
    },
}
_GARBAGE: list[Any] = [None, [], {}, "text", 7, True, [[]], {"params": None}, {"threadId": None}]


def heard(*lines: Any) -> tuple[list[Message], list[dict[str, Any]]]:
    """The messages that come of these lines behind an open turn, and what is sent."""
    talk = AppServerConversation((0, 166, 0))
    for line in (*_OPEN, *lines):
        talk.receive_line(json.dumps(line).encode())
    sent = [json.loads(line) for line in talk.lines_to_send()]
    return talk.messages(), sent


def is_refused(method: str, params: Any) -> bool:
    messages, sent = heard({"id": 5, "method": method, "params": params})
    asked = [each for each in messages if isinstance(each, ApprovalRequested)]
    if asked:
        assert not sent
        return False
    assert [(each["id"], each["error"]["code"]) for each in sent] == [(5, -32602)]
    assert any(isinstance(each, Unknown) for each in messages)
    return True


@pytest.mark.parametrize("method", sorted(DECIDED))
def test_a_sound_request_is_asked(method: str) -> None:
    assert not is_refused(method, GOOD[method])


@pytest.mark.parametrize("method", sorted(DECIDED))
@pytest.mark.parametrize("params", _GARBAGE, ids=repr)
def test_garbage_is_refused_at_once(method: str, params: Any) -> None:
    assert is_refused(method, params)


@pytest.mark.parametrize("method", sorted(DECIDED))
def test_a_request_without_parameters_is_refused_at_once(method: str) -> None:
    messages, sent = heard({"id": 5, "method": method})
    assert [each["error"]["code"] for each in sent] == [-32602]
    assert not [each for each in messages if isinstance(each, ApprovalRequested)]


_NEEDED = {
    "item/commandExecution/requestApproval": ("threadId", "command"),
    "item/fileChange/requestApproval": ("threadId", "itemId", "grantRoot"),
    "item/permissions/requestApproval": ("threadId", "permissions"),
    "item/tool/requestUserInput": ("threadId", "questions"),
    "mcpServer/elicitation/request": ("threadId", "message", "requestedSchema"),
    "execCommandApproval": ("command",),
    "applyPatchApproval": ("fileChanges",),
}


@pytest.mark.parametrize(
    ("method", "name"), [(method, name) for method, names in _NEEDED.items() for name in names]
)
@pytest.mark.parametrize("value", [None, 7, [], {}, "", [None], [[]], {"x": 1}], ids=repr)
def test_what_is_needed_and_is_something_else_is_refused(
    method: str, name: str, value: Any
) -> None:
    if (name, value) in (("permissions", {"x": 1}), ("requestedSchema", {}), ("message", "")):
        return  # that is one
    if name in ("requestedSchema", "fileChanges") and value == {"x": 1}:
        return
    assert is_refused(method, {**GOOD[method], name: value})


@pytest.mark.parametrize(
    "more",
    [
        {"mode": "url", "url": None},
        {"mode": "url", "url": ""},
        {"mode": "no-such-mode"},
        {"mode": 7},
    ],
)
def test_an_elicitation_of_a_kind_that_is_unknown_is_refused(more: dict[str, Any]) -> None:
    method = "mcpServer/elicitation/request"
    assert is_refused(method, {**GOOD[method], **more})


def test_a_command_of_a_kind_that_is_unknown_is_refused() -> None:
    method = "item/commandExecution/requestApproval"
    assert is_refused(method, {**GOOD[method], "kind": "launchMissiles"})


def test_up_to_0_77_the_item_says_the_command_and_it_is_shown_as_it_will_run() -> None:
    command = "/ws/src/bash -lc 'git status'"
    item = {"type": "commandExecution", "id": "c", "command": command, "cwd": "/elsewhere"}
    messages, sent = heard(
        {"method": "item/started", "params": {**_IN, "item": item}},
        {
            "id": 5,
            "method": "item/commandExecution/requestApproval",
            "params": {**_IN, "itemId": "c"},
        },
    )
    assert not sent
    request = next(each for each in messages if isinstance(each, ApprovalRequested))
    assert (request.command, request.cwd) == (command, "/elsewhere")
    # A program that only calls itself bash is no shell to look through: all of it is the command.
    assert (request.shell, request.summary, request.detail["command"]) == (None, command, command)


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("threadId", "conversationId", "itemId", "callId", "command", "cwd", "mode"),
                    *("fileChanges", "permissions", "questions", "message", "requestedSchema"),
                    *("availableDecisions", "approvalId", "_meta", "url", "kind", "id", "question"),
                ]
            ),
            inner | st.just("t1"),
            max_size=6,
        )
    ),
    max_leaves=12,
)


@given(method=st.sampled_from(sorted(DECIDED)), params=_ANY)
def test_whatever_is_asked_is_either_asked_or_refused(method: str, params: Any) -> None:
    is_refused(method, params)


def test_a_recording_may_lack_what_was_said_before() -> None:
    """Nobody decides about it any more, so it is shown as far as it goes."""
    parser = AppServerParser()
    line = {"id": 5, "method": "item/fileChange/requestApproval", "params": {**_IN, "itemId": "c"}}
    parser.receive_line(json.dumps(line).encode())
    assert [type(each) for each in parser.messages() if not isinstance(each, Unknown)][-1] is (
        ApprovalRequested
    )
