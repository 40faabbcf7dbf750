from __future__ import annotations

from typing import Any

import pytest

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.codex.items.dispatch import tell_item
from dragoman.harnesses.codex.items.shape import ThreadItem
from dragoman.harnesses.codex.items.tools import TELL
from dragoman.model.messages import ResultStatus, ToolCall, ToolResult
from support.codex.items import tell, told

ADDED: dict[str, Any] = {
    "changes": [{"path": "/workspace/added.txt", "kind": "add", "diff": "hello\nworld\n"}],
    "file_path": "/workspace/added.txt",
    "content": "hello\nworld\n",
}


MADE = "/bin/bash -lc 'touch approved_file && echo made'"


def test_every_tool_s_item_opens_a_call_and_its_end_closes_it(
    out: Output, session: SessionAssembler
) -> None:
    for kind, tell_it in TELL.items():
        item = ThreadItem(type=kind, id=kind)
        if kind != "web_search":
            tell_it(session, "item", item, False)
            assert [type(message) for message in out.take_messages()] == [ToolCall], kind
        tell_it(session, "item", item, True)

        assert type(out.take_messages()[-1]) is ToolResult, kind
        assert session.calls.is_closed(kind)


# Commands.


def test_a_command_begins_and_ends(out: Output, session: SessionAssembler) -> None:
    tell(
        session,
        f'{{"type":"commandExecution","id":"c","command":"{MADE}","status":"inProgress",'
        '"aggregatedOutput":null,"exitCode":null,"durationMs":null}',
        wire=True,
        done=False,
    )
    tell(
        session,
        f'{{"type":"commandExecution","id":"c","command":"{MADE}","status":"completed",'
        '"aggregatedOutput":"made\\n","exitCode":0,"durationMs":52}',
        wire=True,
    )

    assert told(out) == [
        ToolCall(
            call_id="c",
            tool="Bash",
            native_tool="command_execution",
            input={"command": "touch approved_file && echo made"},
        ),
        ToolResult(call_id="c", output="made\n", exit_code=0, duration_ms=52),
    ]


@pytest.mark.parametrize(
    ("status", "exit_code", "is_error", "told_status"),
    [
        ("completed", 0, False, "completed"),
        ("completed", 3, True, "failed"),
        ("failed", 3, True, "failed"),
        ("failed", None, True, "failed"),
        ("declined", None, True, "declined"),
        (None, 0, False, "completed"),
    ],
)
def test_a_command_ends_as_its_status_and_its_exit_code_say(
    out: Output,
    session: SessionAssembler,
    status: str | None,
    exit_code: int | None,
    is_error: bool,
    told_status: ResultStatus,
) -> None:
    item = ThreadItem(
        type="CommandExecution", id="c", command=["ls"], status=status, exit_code=exit_code
    )
    tell_item(session, "item", item, done=True)

    result = told(out)[-1]
    assert result == ToolResult(
        call_id="c", is_error=is_error, exit_code=exit_code, status=told_status
    )


def test_a_command_on_disk_has_its_duration_in_seconds_and_nanoseconds(
    out: Output, session: SessionAssembler
) -> None:
    tell(
        session,
        '{"type":"CommandExecution","id":"c","command":["/bin/bash","-lc","ls"],'
        '"source":"unified_exec_startup","status":"completed","aggregated_output":"a\\n",'
        '"exit_code":0,"duration":{"secs":1,"nanos":17753000}}',
    )

    call, result = told(out)
    assert isinstance(call, ToolCall)
    assert call.native_tool == "command_execution"
    assert result == ToolResult(call_id="c", output="a\n", exit_code=0, duration_ms=1017)


@pytest.mark.parametrize(("source", "wire"), [("user_shell", False), ("userShell", True)])
def test_a_command_that_the_user_ran_is_told_apart(
    out: Output, session: SessionAssembler, source: str, wire: bool
) -> None:
    row = f'{{"type":"x","id":"c","command":"ls","source":"{source}"}}'
    tell(session, row.replace('"x"', '"commandExecution"'), wire=wire)

    call = told(out)[0]
    assert isinstance(call, ToolCall)
    assert call.native_tool == "user_shell"


def test_a_command_that_applies_a_patch_is_an_edit(out: Output, session: SessionAssembler) -> None:
    session.know_facts(cwd="/workspace")
    patch = "*** Begin Patch\n*** Add File: added.txt\n+hello\n+world\n*** End Patch"
    command = ["bash", "-lc", f"apply_patch <<'EOF'\n{patch}\nEOF"]
    tell_item(
        session, "item", ThreadItem(type="CommandExecution", id="c", command=command), done=False
    )

    assert told(out) == [
        ToolCall(call_id="c", tool="Write", native_tool="command_execution", input=ADDED)
    ]


def test_the_end_of_a_call_that_another_channel_told_is_only_its_end(
    out: Output, session: SessionAssembler
) -> None:
    session.call("c", "Bash", "exec_command", {"command": "ls"})
    out.take_messages()
    tell_item(
        session, "item", ThreadItem(type="CommandExecution", id="c", command=["ls"]), done=True
    )

    assert told(out) == [ToolResult(call_id="c")]
    assert out.take_duplicates() == []


# Changes to files.


@pytest.mark.parametrize(
    ("row", "wire", "result"),
    [
        pytest.param(
            '{"type":"fileChange","id":"c","changes":[{"path":"/workspace/added.txt",'
            '"kind":{"type":"add"},"diff":"hello\\nworld\\n"}],"status":"completed"}',
            True,
            ToolResult(call_id="c"),
            id="app-server",
        ),
        pytest.param(
            '{"type":"FileChange","id":"c","changes":{"/workspace/added.txt":{"type":"add",'
            '"content":"hello\\nworld\\n"}},"status":"completed",'
            '"stdout":"Success. Updated the following files:\\nA added.txt\\n","stderr":""}',
            False,
            ToolResult(call_id="c", output="Success. Updated the following files:\nA added.txt\n"),
            id="rollout",
        ),
        pytest.param(
            '{"type":"FileChange","id":"c","changes":{"/workspace/added.txt":{"type":"add",'
            '"content":"hello\\nworld\\n"}},"status":"declined","stdout":"",'
            '"stderr":"patch rejected by user"}',
            False,
            ToolResult(
                call_id="c", output="patch rejected by user", is_error=True, status="declined"
            ),
            id="declined",
        ),
        pytest.param(
            '{"type":"fileChange","id":"c","changes":[{"path":"/workspace/added.txt",'
            '"kind":{"type":"add"},"diff":"hello\\nworld\\n"}],"status":"failed"}',
            True,
            ToolResult(call_id="c", is_error=True, status="failed"),
            id="failed",
        ),
    ],
)
def test_a_change_to_files_is_a_call_and_its_result(
    out: Output, session: SessionAssembler, row: str, wire: bool, result: ToolResult
) -> None:
    tell(session, row, wire=wire)

    assert told(out) == [
        ToolCall(call_id="c", tool="Write", native_tool="file_change", input=ADDED),
        result,
    ]


def test_a_change_that_is_not_only_an_addition_is_an_edit(
    out: Output, session: SessionAssembler
) -> None:
    tell(
        session,
        '{"id":"c","type":"file_change","changes":[{"path":"/workspace/gone.txt",'
        '"kind":"delete"},{"path":"/workspace/added.txt","kind":"add"}],"status":"completed"}',
    )

    call = told(out)[0]
    assert isinstance(call, ToolCall)
    assert (call.tool, "file_path" in call.input) == ("Edit", False)


# MCP and dynamic tools.


def test_an_mcp_call_is_named_by_server_and_tool(out: Output, session: SessionAssembler) -> None:
    tell(
        session,
        '{"type":"McpToolCall","id":"c","server":"tiny","tool":"add","arguments":{"a":2,"b":3},'
        '"status":"completed","result":{"content":[{"type":"text","text":"5"}],'
        '"structuredContent":{"sum":5},"isError":false},"duration":{"secs":0,"nanos":13614107}}',
    )

    assert told(out) == [
        ToolCall(
            call_id="c", tool="mcp__tiny__add", native_tool="tiny.add", input={"a": 2, "b": 3}
        ),
        ToolResult(call_id="c", output='{"sum":5}', duration_ms=13),
    ]


@pytest.mark.parametrize(
    ("item", "output"),
    [
        (
            ThreadItem(result={"content": [{"type": "text", "text": "boom"}], "isError": True}),
            "boom",
        ),
        (
            ThreadItem(result={"content": [{"type": "text", "text": "boom"}]}, status="failed"),
            "boom",
        ),
        (ThreadItem(error={"message": "no such server"}), "no such server"),
        (ThreadItem(status="failed"), ""),
    ],
    ids=["the tool says so", "the harness says so", "an error", "no word"],
)
def test_an_mcp_call_fails_when_anybody_says_so(
    out: Output, session: SessionAssembler, item: ThreadItem, output: str
) -> None:
    item.type, item.id, item.server, item.tool = "mcp_tool_call", "c", "tiny", "boom"
    tell_item(session, "item", item, done=True)

    assert told(out)[-1] == ToolResult(call_id="c", output=output, is_error=True, status="failed")


@pytest.mark.parametrize(
    ("namespace", "name"),
    [("null", "lookup_ticket"), ('"tickets"', "tickets.lookup_ticket")],
)
def test_a_dynamic_tool_keeps_its_name(
    out: Output, session: SessionAssembler, namespace: str, name: str
) -> None:
    tell(
        session,
        f'{{"type":"dynamicToolCall","id":"c","namespace":{namespace},"tool":"lookup_ticket",'
        '"arguments":{"id":"ABC-123"},"status":"completed","contentItems":[{"type":"inputText",'
        '"text":"Ticket ABC-123 is open"}],"success":true,"durationMs":53}',
        wire=True,
    )

    assert told(out) == [
        ToolCall(call_id="c", tool=name, native_tool=name, input={"id": "ABC-123"}),
        ToolResult(call_id="c", output="Ticket ABC-123 is open", duration_ms=53),
    ]


@pytest.mark.parametrize("item", [ThreadItem(success=False), ThreadItem(status="failed")])
def test_a_dynamic_tool_that_fails_says_why(
    out: Output, session: SessionAssembler, item: ThreadItem
) -> None:
    item.type, item.id, item.tool = "DynamicToolCall", "c", "lookup_ticket"
    item.error = "dynamic tool request failed"
    tell_item(session, "item", item, done=True)

    assert told(out)[-1] == ToolResult(
        call_id="c", output="dynamic tool request failed", is_error=True, status="failed"
    )
