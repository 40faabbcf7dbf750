"""Items about sub-agents."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.output import Output
from dragoman.model.messages import Notice, ToolCall, ToolResult
from support.codex.items import tell, told

# Sub-agents.


def test_an_agent_is_made_and_its_id_is_the_result(out: Output, session: SessionAssembler) -> None:
    row = (
        '{"type":"collabAgentToolCall","id":"c","tool":"spawnAgent","status":"%s",'
        '"senderThreadId":"s","receiverThreadIds":%s,"prompt":"CHILD-TASK compute 3+4",'
        '"agentsStates":{}}'
    )
    tell(session, row % ("inProgress", "[]"), wire=True, done=False)
    tell(session, row % ("completed", '["child"]'), wire=True)

    assert told(out) == [
        ToolCall(
            call_id="c",
            tool="Task",
            native_tool="spawn_agent",
            input={"prompt": "CHILD-TASK compute 3+4"},
        ),
        ToolResult(call_id="c", output="child"),
    ]


def test_waiting_for_an_agent_that_failed_is_an_error(
    out: Output, session: SessionAssembler
) -> None:
    tell(
        session,
        '{"id":"c","type":"collab_tool_call","tool":"wait","sender_thread_id":"s",'
        '"receiver_thread_ids":["child"],"prompt":null,"agents_states":{"child":'
        '{"status":"errored","message":"bad child"}},"status":"failed"}',
    )

    assert told(out) == [
        ToolCall(
            call_id="c", tool="TaskOutput", native_tool="wait", input={"agent_ids": ["child"]}
        ),
        ToolResult(call_id="c", output="bad child", is_error=True, status="failed"),
    ]


@pytest.mark.parametrize(
    ("kind", "tool", "call"),
    [
        ("started", "Task", {"description": "adder"}),
        ("interacted", "SendMessage", {"agent_ids": ["adder"]}),
        ("interrupted", "TaskStop", {"agent_ids": ["adder"]}),
    ],
)
def test_word_of_an_agent_s_doings_is_a_call(
    out: Output, session: SessionAssembler, kind: str, tool: str, call: dict[str, Any]
) -> None:
    tell(
        session,
        f'{{"type":"SubAgentActivity","id":"c","kind":"{kind}","agent_thread_id":"child",'
        '"agent_path":"/root/adder"}',
    )

    assert told(out) == [
        ToolCall(call_id="c", tool=tool, native_tool=f"sub_agent_{kind}", input=call),
        ToolResult(call_id="c", output="/root/adder"),
    ]


def test_word_that_an_agent_is_done_is_a_notice_at_the_item_s_end(
    out: Output, session: SessionAssembler
) -> None:
    row = (
        '{"type":"subAgentActivity","id":"c","kind":"completed","agentThreadId":"child",'
        '"agentPath":"/root/adder"}'
    )
    tell(session, row, wire=True, done=False)
    assert told(out) == []

    tell(session, row, wire=True)
    assert told(out) == [Notice(level="info", text="agent /root/adder: completed")]
