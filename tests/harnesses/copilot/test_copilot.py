"""What Copilot's dialects are made of: calls, tokens, plans, failures, sign-in, files."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.harnesses.contract.capabilities import ACCESS_LEVELS, resolve_access
from dragoman.harnesses.contract.sign_in import SignIn
from dragoman.harnesses.copilot import COPILOT
from dragoman.harnesses.copilot.failures import session_error
from dragoman.harnesses.copilot.history import identify
from dragoman.harnesses.copilot.patches import changes_in, edit_name
from dragoman.harnesses.copilot.plans import TodoTable
from dragoman.harnesses.copilot.sign_in import read_sign_in, sign_in_files
from dragoman.harnesses.copilot.tools import call_of, outcome_of
from dragoman.harnesses.copilot.usage import spent_in_all, usage_of
from dragoman.harnesses.copilot.values import values


def test_each_level_has_an_access_and_the_usual_one_asks() -> None:
    offered = COPILOT.capabilities(None)

    assert resolve_access(offered, None).value == "manual"
    assert [resolve_access(offered, level).level for level in ACCESS_LEVELS] == list(ACCESS_LEVELS)


def test_the_release_is_what_the_program_prints() -> None:
    assert COPILOT.program is not None
    assert COPILOT.program.parse_release("GitHub Copilot CLI 1.0.102.\n") == (1, 0, 102)
    assert COPILOT.program.parse_release("no number") is None


@pytest.mark.parametrize(
    ("env", "config", "verdict"),
    [
        ({}, b"", SignIn(False, needed=True)),
        ({}, b'{"lastLoggedInUser": {"login": "octo"}}', SignIn(True)),
        ({}, b"odd", SignIn(False, needed=True)),
        ({"GH_TOKEN": "t"}, b"", SignIn(True)),
        ({"COPILOT_PROVIDER_BASE_URL": "http://127.0.0.1:1"}, b"", SignIn(True)),
    ],
)
def test_who_is_signed_in(env: dict[str, str], config: bytes, verdict: SignIn) -> None:
    assert read_sign_in(env, [config]) == verdict
    assert sign_in_files({"COPILOT_HOME": "/c"}) == ("/c/config.json",)


@pytest.mark.parametrize(
    ("native", "given", "tool", "expected"),
    [
        ("bash", {"command": "ls"}, "Bash", {"command": "ls"}),
        ("view", {"path": "/a"}, "Read", {"file_path": "/a"}),
        ("create", {"path": "/a", "file_text": "x"}, "Write", {"file_path": "/a", "content": "x"}),
        ("task", {"agent_type": "explore"}, "Task", {"subagent_type": "explore"}),
        ("sql", {"query": "INSERT INTO todos (id) VALUES ('a')"}, "TodoWrite", {"query": "INSERT INTO todos (id) VALUES ('a')"}),
        ("sql", {"query": "SELECT 1"}, "sql", {"query": "SELECT 1"}),
    ],
)  # fmt: skip
def test_calls_have_the_names_that_all_harnesses_share(
    native: str, given: Any, tool: str, expected: Any
) -> None:
    call = call_of(native, given, None, None)

    assert (call.tool, call.input) == (tool, expected)
    assert call_of("lab-find", {"a": 1}, "lab", "find").tool == "mcp__lab__find"


def test_an_exit_code_other_than_zero_is_an_error_though_the_call_succeeded() -> None:
    content = "before\n<shellId: 0 completed with exit code 3>"
    outcome = outcome_of({"success": True, "result": {"content": content}}, "Bash")

    assert (outcome.output, outcome.exit_code, outcome.is_error) == ("before", 3, True)
    refused = outcome_of({"success": False, "error": {"message": "no", "code": "denied"}}, "Bash")
    assert (refused.status, refused.is_error) == ("declined", True)


def test_a_patch_is_a_list_of_changes() -> None:
    patch = "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n-old\n+new\n*** End Patch"
    added, updated = changes_in(patch)

    assert (added["path"], added["kind"], added["diff"]) == ("a", "add", "x\n")
    assert (updated["path"], updated["diff"]) == ("b", "-old\n+new\n")
    assert (edit_name([added]), edit_name([added, updated])) == ("Write", "Edit")


def test_tokens_include_what_was_cached() -> None:
    given = {"inputTokens": 100, "outputTokens": 20, "cacheReadTokens": 60, "reasoningTokens": 5}
    usage = usage_of(given)

    assert usage is not None
    assert (usage.input_tokens, usage.cached_input_tokens) == (100, 60)
    assert (usage.output_tokens, usage.reasoning_output_tokens) == (20, 5)
    assert usage_of({}) is None
    total = spent_in_all({"a": {"usage": given}, "b": {"usage": given}})
    assert total is not None
    assert total.input_tokens == 200


def test_the_plan_is_what_the_statements_make_of_the_table() -> None:
    table = TodoTable()
    first = table.run(
        "INSERT INTO todos (id, title, status) VALUES ('a', 'Look; then fix', 'pending'), ('b', 'Go', 'done')"
    )
    assert first is not None
    assert [(step.text, step.status) for step in first] == [
        ("Look; then fix", "pending"),
        ("Go", "completed"),
    ]
    second = table.run("UPDATE todos SET status = 'in_progress' WHERE id = 'a'")
    assert second is not None
    assert second[0].status == "in_progress"
    assert table.run("SELECT * FROM todos") is None
    assert table.run("DELETE FROM todos WHERE id IN ('a', 'b')") == []


@pytest.mark.parametrize(
    ("data", "kind", "retryable"),
    [
        ({"errorType": "authentication", "statusCode": 401}, "response_error", False),
        ({"errorType": "rate_limit", "statusCode": 429}, "turn_failed", True),
        ({"errorType": "query", "statusCode": 500}, "turn_failed", True),
        ({}, "turn_failed", True),
    ],
)
def test_why_a_turn_failed(data: dict[str, Any], kind: str, retryable: bool) -> None:
    error = session_error(data)

    assert (error.kind, error.retryable) == (kind, retryable)
    assert error.message


def test_a_file_is_of_the_session_that_its_first_event_names() -> None:
    path = "/h/.copilot/session-state/abc/events.jsonl"
    start = json.dumps({"type": "session.start", "data": {"sessionId": "s-1"}}).encode()
    fork = {"sessionId": "s-2", "detachedFromSpawningParentSessionId": "s-1"}
    branch = identify(path, [json.dumps({"type": "session.start", "data": fork}).encode()])
    new, unread = identify(path, [start]), identify(path, [b"odd"])

    assert new is not None
    assert unread is not None
    assert branch is not None
    assert (new.session_id, unread.session_id) == ("s-1", "abc")
    assert (branch.session_id, branch.parent_session_id) == ("s-2", "s-1")
    assert identify("/h/x.jsonl", [b"odd"]) is None


def test_no_stream_of_another_program_is_claimed_for_its_jsonrpc_alone() -> None:
    assert COPILOT.sniff([b'{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":3}}']) is None
    event = b'{"jsonrpc":"2.0","method":"session.event","params":{"sessionId":"s","event":{}}}'
    assert COPILOT.sniff([event]) == "copilot-server"


def test_an_audit_finds_the_values_of_an_event() -> None:
    row = {"type": "user.message", "data": {"content": "hello there"}, "id": "e", "timestamp": "t"}

    assert "hello there" in [each.value for each in values(json.dumps(row).encode(), "")]


def test_each_limit_is_of_a_dialect_and_each_dialect_is_described() -> None:
    names = {dialect.name for dialect in COPILOT.dialects}

    assert {limit.dialect for limit in COPILOT.limits} <= names
    assert all(dialect.summary and dialect.releases for dialect in COPILOT.dialects)
