"""The small parts that both dialects use."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from dragoman.harnesses.claude import CLAUDE
from dragoman.harnesses.claude.failures import api_error, limit_error
from dragoman.harnesses.claude.questions import (
    always_of,
    change_of,
    choices_of,
    decision_of,
    kind_of,
)
from dragoman.harnesses.claude.rate_limits import rate_windows
from dragoman.harnesses.claude.retries import retry_text
from dragoman.harnesses.claude.sniff import settle, sniff
from dragoman.harnesses.claude.tools import exit_code, output_text, result_status, tool_name
from dragoman.harnesses.claude.usage import usage_of
from dragoman.harnesses.claude.values import command_line, level_of, local_output
from dragoman.model.messages import AlwaysAllow
from dragoman.model.usage import Usage
from dragoman.wire.moments import as_time


def test_claude_is_registered_with_both_dialects() -> None:
    assert (CLAUDE.name, CLAUDE.title) == ("claude", "Claude Code")
    assert [dialect.name for dialect in CLAUDE.dialects] == [
        "claude-stream-json",
        "claude-transcript",
    ]


# Tokens.


def test_input_tokens_include_those_of_the_cache() -> None:
    usage = usage_of(
        {
            "input_tokens": 1,
            "cache_read_input_tokens": 20,
            "cache_creation_input_tokens": 300,
            "output_tokens": 4,
            "cache_creation": {"ephemeral_5m_input_tokens": 200, "ephemeral_1h_input_tokens": 100},
            "output_tokens_details": {"thinking_tokens": 3},
        }
    )

    assert usage == Usage(321, 20, 300, 4, 3, 100)


@pytest.mark.parametrize("value", [None, [], {}, "x", {"service_tier": "standard"}])
def test_no_tokens_are_none(value: Any) -> None:
    assert usage_of(value) is None


@pytest.mark.parametrize("count", [-5, 1 << 70, "3", None, 1.5, True])
def test_a_count_that_is_none_counts_nothing(count: Any) -> None:
    assert usage_of({"input_tokens": count, "output_tokens": 2}) == Usage(0, 0, 0, 2)


# Failures.


@pytest.mark.parametrize(
    ("word", "status", "api_type", "kind", "retryable"),
    [
        ("authentication_failed", 401, "authentication_error", "response_error", False),
        ("unknown", 400, "invalid_request_error", "response_error", False),
        ("unknown", 403, "permission_error", "response_error", False),
        ("rate_limit", 429, "rate_limit_error", "turn_failed", True),
        ("server_error", 500, "api_error", "turn_failed", True),
        ("server_error", 529, "overloaded_error", "turn_failed", True),
        ("billing_error", 400, None, "response_error", False),
        ("billing_error", None, None, "turn_failed", False),
        (None, None, None, "turn_failed", True),
    ],
)
def test_an_error_has_a_kind_to_act_on(
    word: str | None, status: int | None, api_type: str | None, kind: str, retryable: bool
) -> None:
    error = api_error("no", word, status, api_type)

    assert (error.kind, error.retryable) == (kind, retryable)


def test_an_error_keeps_what_the_service_says() -> None:
    error = api_error("no", "unknown", 400, "invalid_request_error")

    assert (error.native, error.details) == ("invalid_request_error", "HTTP 400")
    assert limit_error("error_max_turns", None).message == "max turns"


# Tools.


def test_names_are_claudes_own_with_one_alias() -> None:
    assert [tool_name(name) for name in ("Agent", "Bash", "mcp__a__b")] == [
        "Task",
        "Bash",
        "mcp__a__b",
    ]


_RESULTS: list[tuple[Any, str]] = [
    ("plain", "plain"),
    ("<tool_use_error>no such file</tool_use_error>", "no such file"),
    ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
    ([{"type": "image", "source": {}}], "[image]"),
    ([{"type": "tool_reference", "tool_name": "WebFetch"}], "WebFetch"),
    (None, ""),
    ([3, None], ""),
]


@pytest.mark.parametrize(("content", "text"), _RESULTS)
def test_the_text_of_a_result(content: Any, text: str) -> None:
    assert output_text(content) == text


@pytest.mark.parametrize(
    ("output", "code"),
    [("Exit code 3\nbad", 3), ("Exit code 137", 137), ("Exit code x", None), ("bad", None)],
)
def test_the_exit_code_is_the_first_line(output: str, code: int | None) -> None:
    assert exit_code(output, is_error=True) == code
    assert exit_code(output, is_error=False) is None


def test_a_denied_call_is_declined_and_an_interrupted_one_is_not() -> None:
    rejected = {"decision": "reject"}
    assert result_status(is_error=True, denial="user-rejected", decision=None) == "declined"
    assert result_status(is_error=True, denial=None, decision=rejected) == "declined"
    assert result_status(is_error=True, denial="interrupted", decision=None) == "failed"
    assert result_status(is_error=False, denial=None, decision=None) == "completed"


# Questions.


def test_the_kind_of_a_question_is_that_of_its_tool() -> None:
    tools = ("Bash", "Write", "AskUserQuestion", "ExitPlanMode", "mcp__a__b", "WebFetch")
    kinds = ["command", "edit", "question", "tool", "tool", "tool"]

    assert [kind_of(name) for name in tools] == kinds


def test_an_edit_says_which_file_it_changes_and_how() -> None:
    write = change_of("Write", {"file_path": "/a", "content": "one\n"})
    edit = change_of("Edit", {"file_path": "/a", "old_string": "b", "new_string": "c\nd"})

    assert write == {"path": "/a", "kind": "add", "diff": "one\n"}
    assert edit == {"path": "/a", "kind": "update", "diff": "-b\n+c\n+d"}


def test_a_choice_is_offered_if_a_suggestion_goes_that_far() -> None:
    session = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    rule = {
        "type": "addRules",
        "rules": [{"toolName": "Bash", "ruleContent": "git push *"}],
        "destination": "userSettings",
    }

    assert choices_of([]) == ["allow", "deny", "cancel"]
    assert choices_of([session]) == ["allow", "allow_for_session", "deny", "cancel"]
    assert choices_of([rule]) == ["allow", "allow_always", "deny", "cancel"]
    always = always_of([session, rule])
    assert always is not None
    assert (always.prefix, always.stored_in) == (["git", "push"], "~/.claude/settings.json")
    assert always_of([session]) is None


def _lasting(*rules: dict[str, str], kind: str = "addRules") -> dict[str, Any]:
    update = {"type": kind, "rules": list(rules), "behavior": "allow"}
    return {**update, "destination": "localSettings"}


def test_only_the_whole_of_what_would_be_stored_is_shown_as_a_prefix() -> None:
    npm = {"toolName": "Bash", "ruleContent": "npm test:*"}
    push = {"toolName": "Bash", "ruleContent": "git push:*"}
    fetch = {"toolName": "WebFetch", "ruleContent": "domain:example.com"}
    read = {"toolName": "Read", "ruleContent": "/etc/**"}
    stored_in = ".claude/settings.local.json"

    assert always_of([_lasting(npm)]) == AlwaysAllow(prefix=["npm", "test"], stored_in=stored_in)
    assert always_of([_lasting(npm, push)]) == AlwaysAllow(stored_in=stored_in)
    assert always_of([_lasting(npm), _lasting(push)]) == AlwaysAllow(stored_in=stored_in)
    assert always_of([_lasting(fetch)]) == AlwaysAllow(host="example.com", stored_in=stored_in)
    assert always_of([_lasting(read)]) == AlwaysAllow(stored_in=stored_in)

    directories = _lasting(kind="addDirectories")
    assert always_of([directories]) is None
    assert choices_of([directories]) == ["allow", "deny", "cancel"]
    assert always_of([directories, _lasting(npm)]) == always_of([_lasting(npm)])


@pytest.mark.parametrize(
    ("answer", "decision"),
    [
        ({"behavior": "allow"}, "allow"),
        ({"behavior": "deny"}, "deny"),
        ({"behavior": "deny", "interrupt": True}, "cancel"),
        ({"behavior": "allow", "updatedPermissions": [{"destination": "session"}]}, "allow_for_session"),
        ({"behavior": "allow", "updatedPermissions": [{"destination": "localSettings"}]}, "allow_always"),
        ({"action": "accept"}, "allow"),
        ({"action": "decline"}, "deny"),
        ({"action": "cancel"}, "cancel"),
        ({}, "deny"),
    ],
)  # fmt: skip
def test_a_decision_is_read_from_the_answer(answer: dict[str, Any], decision: str) -> None:
    assert decision_of(answer, "command") == decision


# Values.


def test_a_time_without_a_zone_is_taken_for_utc() -> None:
    moment = datetime(2026, 11, 15, 22, 26, 6, tzinfo=UTC)

    assert as_time("2026-11-15T22:26:06.000Z") == as_time("2026-11-15T22:26:06") == moment
    nothing: list[Any] = [None, 3, "soon", {}]
    assert [as_time(value) for value in nothing] == [None] * 4


def test_commands_of_the_program_are_read() -> None:
    assert local_output("<local-command-stdout>Compacted </local-command-stdout>") == "Compacted"
    assert local_output("Compacted") is None
    assert command_line("<command-name>/cost</command-name>") == "/cost"
    assert command_line("please <command-name>/cost</command-name>") is None
    assert [level_of(word) for word in ("warning", "error", "notice", 3)] == [
        "warning",
        "error",
        "info",
        "info",
    ]


def test_a_retry_is_one_sentence_whatever_is_known() -> None:
    assert retry_text(None, None, None, None, None) == "the request failed: attempt 1 of ? follows"


def test_a_window_of_the_allowance() -> None:
    info = {"rateLimitType": "five_hour", "utilization": 0.5, "resetsAt": 1_800_000_000}
    (window,) = rate_windows(info)

    assert (window.name, window.used_percent) == ("five_hour", 50.0)
    assert window.resets_at == datetime.fromtimestamp(1_800_000_000, UTC)
    assert rate_windows(None)[0].resets_at is None


# Detection.


@pytest.mark.parametrize(
    ("line", "dialect"),
    [
        (b'{"type":"system","subtype":"init","permissionMode":"default"}', "claude-stream-json"),
        (b'{"type":"system","subtype":"init","qwen_code_version":"0.2"}', None),
        (b'{"num_turns":1,"type":"result","session_id":"s","total_cost_usd":0}', "claude-stream-json"),
        (b'{"dir":"out","t":0.1,"raw":"{\\"type\\":\\"command_lifecycle\\",\\"session_id\\":\\"s\\"}"}', "claude-stream-json"),
        (b'{"type":"queue-operation","operation":"enqueue","sessionId":"s"}', "claude-transcript"),
        (b'{"parentUuid":null,"isSidechain":false,"type":"user","sessionId":"s","userType":"external"}', "claude-transcript"),
        (b'{"parentUuid":null,"isSidechain":true,"type":"user","sessionId":"s","agentId":"a"}', None),
        (b'{"type":"user","message":{"role":"user","content":"hi"},"session_id":"default"}', None),
        (b'{"type":"assistant","message":{}}', None),
        (b"not JSON", None),
    ],
)  # fmt: skip
def test_a_line_is_claimed_by_what_only_claude_writes(line: bytes, dialect: str | None) -> None:
    assert sniff([line]) == dialect


def test_a_recording_without_a_decisive_line_is_settled_by_its_command() -> None:
    ours = b'{"dir":"meta","cmd":["/usr/bin/claude","-p","--output-format","stream-json"]}'
    theirs = b'{"dir":"meta","cmd":["node","qwen","-o","stream-json"]}'

    assert settle([ours]) == "claude-stream-json"
    assert settle([theirs]) is None
    assert settle([b'{"type":"user"}']) is None
