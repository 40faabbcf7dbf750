"""The rules of reading Codex, each shown on a recording of the real program."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import pytest

import dragoman
from dragoman import (
    ApprovalRequested,
    ApprovalSettled,
    Context,
    Malformed,
    Message,
    Prompt,
    SessionStarted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    Unknown,
    Usage,
    UsageReport,
    fold,
)

Kind = TypeVar("Kind", bound=Message)


def told(path: Path) -> list[Message]:
    return list(dragoman.read(path))


def of(kind: type[Kind], messages: list[Message]) -> list[Kind]:
    return [message for message in messages if isinstance(message, kind)]


# Calls: one start, one end.


def test_a_call_that_never_completed_is_abandoned_at_the_turns_end(runs: Path) -> None:
    messages = told(runs / "0.47.0/sigkill_cmd.exec.jsonl")
    result, ended = messages[-2:]
    assert isinstance(result, ToolResult)
    assert isinstance(ended, TurnEnded)
    assert (result.status, result.is_error) == ("abandoned", True)
    assert ended.outcome == "interrupted"


def test_a_result_that_comes_after_its_turn_is_told_and_has_the_last_word(runs: Path) -> None:
    messages = told(runs / "0.163.0/interrupt_cmd.appserver.jsonl")
    call = of(ToolCall, messages)[0]
    results = [each for each in of(ToolResult, messages) if each.call_id == call.call_id]
    assert [each.status for each in results] == ["abandoned", "completed"]
    assert results[0].output == "tick 2\ntick 3\ntick 4\n"
    assert results[1].turn_id == call.turn_id
    use = fold(messages)[0].uses[0]
    assert use.result is results[1]


# Twins: nothing twice, nothing lost.


@pytest.mark.parametrize(
    "name",
    [
        "0.98.0/chat_then_tools.rollout.jsonl",  # events beside response items
        "0.146.0/patch_all.exec-rollout.jsonl",  # the newest of that generation
        "0.166.0/patch_all.rollout.jsonl",  # items beside response items
        "0.98.0/chat_then_tools.appserver.jsonl",  # v2 beside codex/event
        "0.53.0/chat_then_tools.exec-rollout.jsonl",
    ],
)
def test_what_comes_over_several_channels_is_told_once(runs: Path, name: str) -> None:
    messages = told(runs / name)
    for kind in (Prompt, Text, Thinking):
        said = [message.text for message in of(kind, messages)]
        assert len(said) == len(set(said)), kind
    calls = [call.call_id for call in of(ToolCall, messages)]
    assert len(calls) == len(set(calls))
    assert of(Text, messages)
    assert dragoman.audit(runs / name).duplicates


@pytest.mark.parametrize("kind", ["appserver", "rollout"])
def test_a_text_that_is_said_twice_is_told_twice(runs: Path, kind: str) -> None:
    messages = told(runs / f"0.163.0/same_text_twice.{kind}.jsonl")
    said = [message.text for message in of(Text, messages)]
    assert max(said.count(text) for text in said) > 1


def test_the_rows_of_a_review_which_are_written_twice_are_told_once(runs: Path) -> None:
    messages = told(runs / "0.87.0/review.rollout1.jsonl")
    prompts = [prompt.text for prompt in of(Prompt, messages)]
    assert [text.split(" ")[0] for text in prompts] == ["hello", "Review", "thanks"]
    assert len(fold(messages)) == 3


# Who said it.


@pytest.mark.parametrize(
    "name",
    [
        "0.8.0/patch_all.exec-rollout.jsonl",
        "0.34.0/tool_plus_text.exec-rollout.jsonl",
        "0.57.0/unknown_tool.rollout.jsonl",
        "0.98.0/chat_then_tools.rollout.jsonl",
        "0.142.0/plan.rollout.jsonl",
        "0.166.0/patch_all.rollout.jsonl",
    ],
)
def test_what_the_harness_injects_is_context_and_no_prompt(runs: Path, name: str) -> None:
    messages = told(runs / name)
    assert not [prompt for prompt in of(Prompt, messages) if prompt.text.startswith("<")]
    assert [prompt.text for prompt in of(Prompt, messages)][:1] != []
    if not name.startswith("0.8.0"):  # which injects nothing
        injected = [context.text for context in of(Context, messages)]
        assert any("<environment_context>" in text for text in injected)


def test_a_prompt_that_looks_injected_is_still_a_prompt_where_rows_can_tell(runs: Path) -> None:
    messages = told(runs / "0.29.0/tag_prompt.proto.jsonl")
    assert any(prompt.text.startswith("<") for prompt in of(Prompt, messages))


# Tools under the names of the field.


@pytest.mark.parametrize(
    ("name", "native_tool", "tool", "input"),
    [
        ("0.8.0/chat_then_tools.exec-rollout", "shell", "Bash", {"command": "cat README.md"}),
        ("0.87.0/fork.rollout1", "shell_command", "Bash", {"command": "echo one"}),
        ("0.146.0/fork.rollout1", "exec_command", "Bash", {"command": "echo one"}),
        ("0.166.0/shell_stdin.rollout", "write_stdin", "BashOutput", None),
        ("0.8.0/patch_all.exec-rollout", "shell", "Write", None),
        ("0.146.0/patch_all.exec-rollout", "apply_patch", "Edit", None),
        ("0.28.0/plan.appserver-v1-rollout", "update_plan", "TodoWrite", None),
        (
            "0.29.0/view_image.exec-rollout",
            "view_image",
            "Read",
            {"file_path": "/workspace/pic.png"},
        ),
        ("0.8.0/mcp.exec-rollout", "tiny__add", "mcp__tiny__add", {"a": 2, "b": 3}),
        ("0.120.0/mcp.rollout", "mcp__tiny__add", "mcp__tiny__add", {"a": 2, "b": 3}),
        ("0.160.0/mcp.rollout", "mcp__tiny.add", "mcp__tiny__add", {"a": 2, "b": 3}),
        ("0.151.0/plan_codemode.rollout", "exec", "exec", None),
        (
            "0.135.0/dyn_namespace.rollout",
            "tickets.lookup_ticket",
            "tickets.lookup_ticket",
            {"id": "ABC-123"},
        ),
        ("0.72.0/websearch_actions.exec-rollout", "web_search", "WebSearch", None),
        ("0.72.0/websearch_actions.exec-rollout", "web_search", "WebFetch", None),
        ("0.125.0/subagent_v2.rollout1", "spawn_agent", "Task", None),
        ("0.125.0/subagent_v2.rollout1", "wait_agent", "TaskOutput", {"agent_ids": []}),
        ("0.125.0/subagent_v2.rollout1", "close_agent", "TaskStop", {"agent_ids": ["adder"]}),
        ("0.107.0/subagent_v1.exec-rollout1", "wait", "TaskOutput", None),
        ("0.113.0/imagegen.rollout", "image_generation", "image_generation", None),
    ],
)
def test_a_persisted_tool_has_the_name_the_field_knows(
    runs: Path, name: str, native_tool: str, tool: str, input: dict[str, object] | None
) -> None:
    calls = of(ToolCall, told(runs / f"{name}.jsonl"))
    found = [call for call in calls if (call.native_tool, call.tool) == (native_tool, tool)]
    assert found, {(call.native_tool, call.tool) for call in calls}
    if input is not None:
        assert input in [call.input for call in found]


@pytest.mark.parametrize(
    "name",
    [
        "0.8.0/chat_then_tools.exec-rollout",  # a JSON wrapper with metadata
        "0.34.0/tool_plus_text.exec-rollout",
        "0.87.0/fork.rollout1",  # `Exit code:` headers
        "0.107.0/parallel_tools.exec-rollout",  # `Chunk ID:` headers
        "0.146.0/fork.rollout1",
        "0.166.0/fork.rollout1",
    ],
)
def test_outputs_are_told_without_their_wrapping(runs: Path, name: str) -> None:
    messages = told(runs / f"{name}.jsonl")
    bash = {call.call_id for call in of(ToolCall, messages) if call.tool == "Bash"}
    results = [result for result in of(ToolResult, messages) if result.call_id in bash]
    assert results
    for result in results:
        assert not result.output.startswith(("{", "Exit code:", "Chunk ID:", "Wall time:"))
        assert result.exit_code is not None
        assert result.is_error is (result.exit_code != 0)
        assert result.duration_ms is not None


def test_a_failed_command_is_an_error_with_its_exit_code(runs: Path) -> None:
    for kind in ("exec", "exec-rollout"):
        messages = told(runs / f"0.8.0/shell_fail.{kind}.jsonl")
        failed = [result for result in of(ToolResult, messages) if result.is_error]
        assert [result.exit_code for result in failed] == [3], kind


def test_file_changes_have_a_path_a_kind_and_the_real_diff(runs: Path) -> None:
    calls = of(ToolCall, told(runs / "0.146.0/patch_all.exec-rollout.jsonl"))
    changes = [change for call in calls for change in call.input.get("changes", [])]
    assert {change["kind"] for change in changes} == {"add", "update", "delete"}
    assert all(change["path"].startswith("/workspace/") for change in changes)
    edited = next(change for change in changes if change["path"].endswith("README.md"))
    assert edited["diff"] == "@@ -1,3 +1,3 @@\n # demo\n-old line\n+new line\n end\n"
    moved = next(change for change in changes if "move_path" in change)
    assert moved["move_path"] == "/workspace/sub/moved.txt"


# Sessions.


@pytest.mark.parametrize(
    "name",
    [
        "0.20.0/approval_cmd_abort.proto",
        "0.28.0/plan.appserver-v1",
        "0.42.0/plan_experimental.exec",
        "0.47.0/parallel_tools.mcpserver",
        "0.53.0/chat_then_tools.exec",
        "0.98.0/chat_then_tools.appserver",
        "0.166.0/patch_all.appserver",
    ],
)
def test_the_id_of_a_session_is_found_wherever_it_hides(runs: Path, name: str) -> None:
    """It is the same as in the file that the run left."""
    live = told(runs / f"{name}.jsonl")
    scenario, _, kind = name.rpartition(".")
    left = f"{scenario}.rollout" if kind == "appserver" else f"{scenario}.{kind}-rollout"
    disk = told(runs / f"{left}.jsonl")
    ids = {message.session_id for message in disk}
    assert len(ids) == 1
    assert {message.session_id for message in live if not _is_of_the_connection(message)} == ids


def _is_of_the_connection(message: Message) -> bool:
    """Whether it is about no session at all: the account, the server, a line nobody knows."""
    return message.session_id is None and not isinstance(message, Prompt | Text | ToolCall)


def test_sub_agents_name_their_parent(runs: Path) -> None:
    for release, parent, child in (
        ("0.128.0", "subagent_v1.rollout1", "subagent_v1.rollout2"),
        ("0.166.0", "subagent_v1.rollout1", "subagent_v1.rollout2"),
        ("0.125.0", "subagent_v2.rollout1", "subagent_v2.rollout2"),
    ):
        began = of(SessionStarted, told(runs / release / f"{parent}.jsonl"))[0]
        spawned = of(SessionStarted, told(runs / release / f"{child}.jsonl"))[0]
        assert spawned.parent_session_id == began.session_id
        live = told(runs / release / f"{parent.split('.')[0]}.appserver.jsonl")
        parents = {each.session_id: each.parent_session_id for each in of(SessionStarted, live)}
        assert parents == {began.session_id: None, spawned.session_id: began.session_id}


def test_rows_that_a_fork_copied_keep_the_name_of_their_session(runs: Path) -> None:
    for release in ("0.87.0", "0.146.0"):
        parent = fold(told(runs / release / "fork.rollout1.jsonl"))
        messages = told(runs / release / "fork.rollout2.jsonl")
        fork = of(SessionStarted, messages)[0]
        assert fork.parent_session_id == parent[0].session_id
        turns = fold(messages)
        assert [turn.session_id == fork.session_id for turn in turns] == [False, False, True]
        copied = [turn.ended.usage for turn in turns[:2] if turn.ended]
        assert copied == [turn.ended.usage for turn in parent[:2] if turn.ended]


# What went wrong.


def test_a_retry_is_a_notice_and_the_failure_ends_the_turn(runs: Path) -> None:
    messages = told(runs / "0.117.0/err429.exec.jsonl")
    ended = messages[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.outcome == "failed"
    assert ended.error is not None
    assert ended.error.kind == "turn_failed"
    assert "429" in ended.error.message


def test_a_session_goes_on_after_a_failed_turn(runs: Path) -> None:
    for kind in ("appserver", "rollout"):
        turns = fold(told(runs / f"0.166.0/err_then_ok.{kind}.jsonl"))
        assert [turn.ended.outcome for turn in turns if turn.ended][:2] == ["failed", "completed"]


# Approvals.


def test_an_approval_is_asked_about_a_call_and_settled_with_our_words(runs: Path) -> None:
    expected = {
        "0.20.0/approval_cmd_abort.proto.jsonl": ("command", "cancel", "declined"),
        "0.28.0/approval_patch_abort.appserver-v1.jsonl": ("edit", "cancel", "declined"),
        "0.42.0/approval_cmd_denied.mcpserver.jsonl": ("command", "deny", "declined"),
        "0.160.0/approval_patch_accept.appserver.jsonl": ("edit", "allow", "completed"),
    }
    for name, (kind, decision, status) in expected.items():
        messages = told(runs / name)
        asked = of(ApprovalRequested, messages)[0]
        settled = of(ApprovalSettled, messages)[0]
        result = of(ToolResult, messages)[0]
        assert (asked.kind, settled.decision, result.status) == (kind, decision, status), name
        assert asked.approval_id == settled.approval_id == result.call_id


# Tokens.


def test_a_turns_tokens_are_differences_and_add_up_to_the_total(runs: Path) -> None:
    checked = 0
    for path in sorted(runs.glob("*/*rollout.jsonl")):
        messages = told(path)
        reports = [report for report in of(UsageReport, messages) if report.total]
        turns = [end.usage for end in of(TurnEnded, messages) if end.usage]
        if not reports or not turns or len({each.session_id for each in messages}) > 1:
            continue
        if any(start.parent_session_id for start in of(SessionStarted, messages)):
            continue  # its total has what was spent before it branched off
        totals = [report.total for report in reports if report.total]
        total = totals[-1]
        if any(not earlier.fits_in(later) for earlier, later in pairwise(totals)):
            continue  # the counter was started anew
        if any(report.total == report.last for report in reports[1:]):
            continue  # it was, and had come to more than before by the time it was told
        assert sum(turns, Usage()) == total, path
        assert total.cached_input_tokens <= total.input_tokens
        assert total.reasoning_output_tokens <= total.output_tokens
        checked += 1
    assert checked > 30


def test_token_counts_that_are_written_twice_are_counted_once(runs: Path) -> None:
    path = runs / "0.98.0/chat_then_tools.rollout.jsonl"
    rows = path.read_bytes().count(b'"token_count"')
    messages = told(path)
    reports = of(UsageReport, messages)
    assert len(reports) < rows
    assert len({report.total for report in reports}) == len(reports)


def test_usage_records_and_token_counts_are_counted_once(runs: Path) -> None:
    path = runs / "0.166.0/patch_all.rollout.jsonl"
    raw = path.read_bytes()
    assert raw.count(b'"token_usage_record"') == len(of(UsageReport, told(path)))
    assert raw.count(b'"token_count"') > 0


# Whatever comes.


def test_what_is_new_or_broken_is_kept_in_its_place(runs: Path) -> None:
    lines = (runs / "0.166.0/patch_all.rollout.jsonl").read_bytes().splitlines(keepends=True)
    new = b'{"timestamp":"2027-01-01T00:00:00Z","type":"dream","payload":{"of":"sheep"}}\n'
    broken = b'{"timestamp":"2027-01-01T00:00:0\n'
    messages = list(dragoman.read([*lines[:6], new, broken, *lines[6:]]))
    assert [(each.line, each.native_type) for each in of(Unknown, messages)] == [(7, "dream")]
    assert [(each.line, each.raw) for each in of(Malformed, messages)] == [
        (8, broken.decode().rstrip("\n"))
    ]
    assert len(messages) == len(list(dragoman.read(lines))) + 2
