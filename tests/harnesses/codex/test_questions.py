from __future__ import annotations

from typing import Any

import pytest

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.codex import questions
from dragoman.model.messages import AlwaysAllow, ApprovalRequested, Message

USUAL = ["allow", "allow_for_session", "deny", "cancel"]
NO_DETAILS: dict[str, Any] = {}


@pytest.fixture
def session(out: Output) -> SessionAssembler:
    return SessionAssembler(out, "codex", "s")


def asked(out: Output) -> Message:
    [message] = out.take_messages()
    return message


# Decisions.


@pytest.mark.parametrize(
    ("words", "ours"),
    [
        (["accept", "approved"], "allow"),
        (["acceptForSession", "approved_for_session"], "allow_for_session"),
        (
            [
                {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["touch", "x"]}},
                {"approved_execpolicy_amendment": {"proposed_execpolicy_amendment": ["touch"]}},
                {"applyNetworkPolicyAmendment": NO_DETAILS},
                "acceptWithExecpolicyAmendment",
            ],
            "allow_always",
        ),
        (["decline", "denied", "timed_out"], "deny"),
        (["cancel", "abort"], "cancel"),
        (["somethingNew", {"somethingNew": NO_DETAILS}], "somethingNew"),
        ([None, 5, NO_DETAILS, ""], "deny"),
    ],
)
def test_three_sets_of_words_are_one(words: list[Any], ours: str) -> None:
    assert {questions.decision_of(word) for word in words} == {ours}


@pytest.mark.parametrize(
    ("result", "ours"),
    [
        ({"decision": "accept"}, "allow"),
        ({"decision": "approved_for_session"}, "allow_for_session"),
        ({"decision": "denied", "action": "accept"}, "deny"),
        ({"decision": None}, "deny"),
        ({"action": "accept", "content": {}}, "allow"),
        ({"action": "decline"}, "deny"),
        ({"action": "cancel"}, "cancel"),
        ({"answers": {"color": {"answers": ["Red"]}}}, "answered"),
        ({"permissions": {"network": {"enabled": True}}, "scope": "turn"}, "allow"),
        ({"permissions": {}, "scope": "turn"}, "deny"),
        ({"success": True, "contentItems": []}, "answered"),
        ({"success": False, "contentItems": []}, "answered"),
        ({"anything": "else"}, "answered"),
        ({}, "deny"),
        (None, "deny"),
    ],
    ids=str,
)
def test_a_whole_answer_is_one_word(result: Any, ours: str) -> None:
    assert questions.answer_of(result) == ours


def test_what_a_release_offers_comes_first_and_what_it_accepts_besides_after() -> None:
    available = [
        "accept",
        {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["touch", "approved_file"]}},
        "cancel",
    ]

    rule = questions.rule_to_remember({"availableDecisions": available})
    assert questions.choices_of(available, rule=rule) == [
        "allow",
        "allow_always",
        "cancel",
        "allow_for_session",
        "deny",
    ]
    assert "allow_always" not in questions.choices_of(available)


_NETWORK = "applyNetworkPolicyAmendment"


def _network(action: str) -> dict[str, Any]:
    return {_NETWORK: {"network_policy_amendment": {"host": "example.com", "action": action}}}


_REMEMBERED: list[tuple[dict[str, Any], AlwaysAllow | None]] = [
    ({}, None),
    ({"availableDecisions": ["accept", _network("deny")]}, None),
    ({"availableDecisions": [{"acceptWithExecpolicyAmendment": {}}]}, None),
    (
        {"availableDecisions": [_network("deny"), _network("allow")]},
        AlwaysAllow(host="example.com", stored_in="$CODEX_HOME/rules/default.rules"),
    ),
    (
        {"proposedExecpolicyAmendment": ["git", "push"]},
        AlwaysAllow(prefix=["git", "push"], stored_in="$CODEX_HOME/rules/default.rules"),
    ),
    (
        {"proposedNetworkPolicyAmendments": [{"host": "a.b", "action": "allow"}]},
        AlwaysAllow(host="a.b", stored_in="$CODEX_HOME/rules/default.rules"),
    ),
]


@pytest.mark.parametrize(("params", "always"), _REMEMBERED)
def test_what_would_be_remembered_is_shown(
    params: dict[str, Any], always: AlwaysAllow | None
) -> None:
    rule = questions.rule_to_remember(params)
    assert questions.always_allow(rule, None) == always
    assert ("allow_always" in questions.choices_of(None, rule=rule)) is (always is not None)
    shown = questions.always_allow(rule, "/home/u/.codex")
    assert shown is None or shown.stored_in == "/home/u/.codex/rules/default.rules"


@pytest.mark.parametrize("available", [None, [], "accept"])
def test_a_release_that_lists_nothing_offers_the_usual(available: Any) -> None:
    assert questions.choices_of(available) == USUAL
    assert questions.choices_of(available, ("allow", "deny")) == ["allow", "deny"]


# Questions.


@pytest.mark.parametrize(
    ("command", "line", "argv", "shell"),
    [
        (
            ["bash", "-lc", "touch approved_file && echo made"],
            "bash -lc 'touch approved_file && echo made'",
            ["bash", "-lc", "touch approved_file && echo made"],
            "bash -lc",
        ),
        (
            "/bin/bash -lc 'touch approved_file && echo made'",
            "/bin/bash -lc 'touch approved_file && echo made'",
            None,
            "/bin/bash -lc",
        ),
    ],
)
def test_a_command_is_asked_about_with_its_script_and_as_it_will_run(
    out: Output,
    session: SessionAssembler,
    command: list[str] | str,
    line: str,
    argv: list[str] | None,
    shell: str,
) -> None:
    questions.ask_command(session, "call_1", command=command, cwd="/workspace", reason="need it")

    assert asked(out) == ApprovalRequested(
        session_id="s",
        approval_id="call_1",
        kind="command",
        tool="Bash",
        summary="touch approved_file && echo made",
        detail={
            "command": "touch approved_file && echo made",
            "cwd": "/workspace",
            "reason": "need it",
        },
        choices=USUAL,
        command=line,
        argv=argv,
        shell=shell,
        cwd="/workspace",
    )


def test_a_command_that_is_not_told_is_summed_up_by_its_reason(
    out: Output, session: SessionAssembler
) -> None:
    questions.ask_command(
        session, "call_1", command=None, cwd=None, reason="need it", choices=["allow"]
    )

    question = asked(out)
    assert isinstance(question, ApprovalRequested)
    assert (question.summary, question.choices) == ("need it", ["allow"])
    assert "cwd" not in question.detail


@pytest.mark.parametrize(
    ("changes", "tool", "summary"),
    [
        ([{"path": "/workspace/a", "kind": "add"}], "Write", "add /workspace/a"),
        (
            [{"path": "/workspace/a", "kind": "add"}, {"path": "/workspace/b", "kind": "delete"}],
            "Edit",
            "add /workspace/a, delete /workspace/b",
        ),
    ],
)
def test_an_edit_is_asked_about_with_its_files(
    out: Output, session: SessionAssembler, changes: list[dict[str, Any]], tool: str, summary: str
) -> None:
    questions.ask_edit(session, "call_1", changes=changes, reason=None)

    assert asked(out) == ApprovalRequested(
        session_id="s",
        approval_id="call_1",
        kind="edit",
        tool=tool,
        summary=summary,
        detail={"changes": changes},
        choices=USUAL,
    )


def test_an_edit_whose_files_nobody_told_has_no_detail(
    out: Output, session: SessionAssembler
) -> None:
    questions.ask_edit(session, "call_1", changes=[], reason="outside")

    question = asked(out)
    assert isinstance(question, ApprovalRequested)
    assert question.detail == {"reason": "outside"}


def test_questions_to_the_user_are_kept_whole(out: Output, session: SessionAssembler) -> None:
    asks: list[Any] = [
        {"id": "color", "question": "Which color?", "options": [{"label": "Red"}]},
        {"id": "size", "question": "Which size?", "options": []},
    ]
    questions.ask_question(session, "call_1", asks)

    assert asked(out) == ApprovalRequested(
        session_id="s",
        approval_id="call_1",
        kind="question",
        tool="AskUserQuestion",
        summary="Which color? Which size?",
        detail={"questions": asks},
    )


def test_permissions_can_be_given_for_the_session(out: Output, session: SessionAssembler) -> None:
    wanted = {"network": {"enabled": True}, "fileSystem": {"write": ["/workspace/out"]}}
    questions.ask_permissions(session, "call_1", wanted, "need the network and a folder")

    assert asked(out) == ApprovalRequested(
        session_id="s",
        approval_id="call_1",
        kind="permissions",
        summary="need the network and a folder",
        detail={"permissions": wanted, "reason": "need the network and a folder"},
        choices=["allow", "allow_for_session", "deny", "cancel"],
    )


def test_an_elicitation_names_its_server(out: Output, session: SessionAssembler) -> None:
    message, form = "Who are you?", {"type": "object", "properties": {"name": {"type": "string"}}}
    questions.ask_elicitation(session, "0", "tiny", message, form=form)

    assert asked(out) == ApprovalRequested(
        session_id="s",
        approval_id="0",
        kind="elicitation",
        summary=message,
        detail={"server": "tiny"},
        choices=["allow", "deny", "cancel"],
        form=form,
    )


@pytest.mark.parametrize(
    ("message", "tool"),
    [
        ('Allow the tiny MCP server to run tool "add"?', "mcp__tiny__add"),
        ("Allow the tiny MCP server to go on?", None),
    ],
)
def test_an_mcp_tool_is_named_by_the_words_of_the_question(
    out: Output, session: SessionAssembler, message: str, tool: str | None
) -> None:
    meta = {"tool_params": {"a": 2, "b": 3}}
    questions.ask_tool(session, "0", "tiny", message, meta)

    assert asked(out) == ApprovalRequested(
        session_id="s",
        approval_id="0",
        kind="tool",
        tool=tool,
        summary=message,
        detail={"server": "tiny", "arguments": {"a": 2, "b": 3}},
        choices=["allow", "deny", "cancel"],
    )


def test_permissions_given_for_the_session_are_that() -> None:
    result = {"permissions": {"network": {"enabled": True}}, "scope": "session"}

    assert questions.answer_of(result) == "allow_for_session"


def test_a_call_that_can_be_remembered_says_where(out: Output, session: SessionAssembler) -> None:
    questions.ask_tool(
        session, "0", "tiny", "Allow?", {"persist": ["session", "always"]}, "/home/c"
    )

    request = asked(out)
    assert isinstance(request, ApprovalRequested)
    assert request.choices == ["allow", "allow_for_session", "allow_always", "deny", "cancel"]
    assert request.always == AlwaysAllow(stored_in="/home/c/config.toml")


def test_a_connection_is_not_a_command_for_rules(out: Output, session: SessionAssembler) -> None:
    """A rule that allows ``git fetch`` has not said which hosts it may reach."""
    network = {"host": "example.com", "protocol": "https"}
    questions.ask_command(session, "0", command="git fetch", cwd="/w", reason=None, network=network)

    request = asked(out)
    assert isinstance(request, ApprovalRequested)
    assert (request.kind, request.summary) == ("permissions", "connect to example.com")
    assert (request.command, request.detail["network"]) == ("git fetch", network)


def test_input_for_a_running_command_is_not_a_command_for_rules(
    out: Output, session: SessionAssembler
) -> None:
    questions.ask_input(session, "0", text="git status\n", cwd="/w", reason=None)

    request = asked(out)
    assert isinstance(request, ApprovalRequested)
    assert (request.kind, request.tool, request.command) == ("tool", "BashOutput", None)
    assert request.detail["arguments"] == {"chars": "git status\n"}


def test_an_edit_that_asks_for_a_whole_folder_says_so(
    out: Output, session: SessionAssembler
) -> None:
    changes = [{"path": "/w/a", "kind": "add", "diff": ""}]
    questions.ask_edit(session, "0", changes=changes, reason=None, grant_root="/w")

    request = asked(out)
    assert isinstance(request, ApprovalRequested)
    assert request.summary == "add /w/a, and write below /w"
    assert request.detail["grant_root"] == "/w"


def test_what_an_answer_adds_is_kept_but_not_what_was_filled_in() -> None:
    rule = {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["git", "status"]}}
    granted = {"network": {"enabled": True}}

    assert questions.detail_of({"decision": rule}) == {"rules": [rule]}
    assert questions.detail_of({"permissions": granted, "scope": "turn"}) == {
        "permissions": granted
    }
    assert questions.detail_of({"decision": "accept"}) == {}
    assert questions.detail_of({"answers": {"pin": {"answers": ["1234"]}}}) == {}
    assert questions.detail_of({"action": "accept", "content": {"pin": "1234"}}) == {}
