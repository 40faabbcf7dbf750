from __future__ import annotations

import msgspec
import pytest

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.codex.items.dispatch import SAID, tell_item
from dragoman.harnesses.codex.items.shape import ThreadItem, WireItem
from dragoman.model.messages import Message, ToolResult, TurnStarted

KINDS = [
    "user_message",
    "agent_message",
    "assistant_message",
    "reasoning",
    "command_execution",
    "file_change",
    "mcp_tool_call",
    "dynamic_tool_call",
    "collab_agent_tool_call",
    "collab_tool_call",
    "sub_agent_activity",
    "web_search",
    "image_view",
    "image_generation",
    "sleep",
    "extension",
    "todo_list",
    "plan",
    "context_compaction",
    "error",
    "entered_review_mode",
    "exited_review_mode",
    "hook_prompt",
]


def told(item: ThreadItem) -> list[Message]:
    """What an item makes of a fresh session, without its place in the stream."""
    out = Output(audit=True)
    assert tell_item(SessionAssembler(out, "codex"), "item", item, done=True)
    return [
        msgspec.structs.replace(message, turn_id=None)
        for message in out.take_messages()
        if not isinstance(message, TurnStarted)
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("done", [False, True], ids=["begun", "done"])
def test_an_item_with_nothing_in_it_is_told_or_accounted_for(kind: str, done: bool) -> None:
    out = Output(audit=True)
    session = SessionAssembler(out, "codex")
    session.begin_turn("t")
    out.take_messages()

    assert tell_item(session, "item", ThreadItem(type=kind, id="x"), done=done)
    messages = out.take_messages()
    assert messages or out.take_duplicates()
    assert {message.turn_id for message in messages} <= {"t"}


@pytest.mark.parametrize("kind", ["", "hologram", "Hologram"])
def test_a_type_that_is_new_to_us_is_left_to_the_parser(kind: str) -> None:
    out = Output(audit=True)

    assert not tell_item(
        SessionAssembler(out, "codex"), "item", ThreadItem(type=kind, id="x"), done=True
    )
    assert out.take_messages() == []
    assert out.take_duplicates() == []


@pytest.mark.parametrize(
    ("exec_row", "wire_row", "rollout_row"),
    [
        pytest.param(
            '{"id":"i","type":"agent_message","text":"approval step over"}',
            '{"type":"agentMessage","id":"i","text":"approval step over"}',
            '{"type":"AgentMessage","id":"i",'
            '"content":[{"type":"Text","text":"approval step over"}]}',
            id="agent message",
        ),
        pytest.param(
            '{"id":"i","type":"reasoning","text":"**Look**\\n\\nI look."}',
            '{"type":"reasoning","id":"i","summary":["**Look**\\n\\nI look."],"content":[]}',
            '{"type":"Reasoning","id":"i","summary_text":["**Look**\\n\\nI look."],'
            '"raw_content":[]}',
            id="reasoning",
        ),
        pytest.param(
            '{"id":"i","type":"mcp_tool_call","server":"tiny","tool":"boom","arguments":{},'
            '"result":{"content":[{"type":"text","text":"boom happened"}],'
            '"structured_content":null},"error":null,"status":"failed"}',
            '{"type":"mcpToolCall","id":"i","server":"tiny","tool":"boom","status":"failed",'
            '"arguments":{},"result":{"content":[{"type":"text","text":"boom happened"}],'
            '"structuredContent":null},"error":null,"durationMs":null}',
            '{"type":"McpToolCall","id":"i","server":"tiny","tool":"boom","arguments":{},'
            '"readOnlyHint":true,"status":"failed","result":{"content":'
            '[{"type":"text","text":"boom happened"}],"isError":true}}',
            id="MCP tool call",
        ),
        pytest.param(
            '{"id":"i","type":"command_execution","command":"/bin/bash -lc \'exit 3\'",'
            '"aggregated_output":"before\\n","exit_code":3,"status":"failed"}',
            '{"type":"commandExecution","id":"i","command":"/bin/bash -lc \'exit 3\'",'
            '"cwd":"/workspace","processId":"74365","status":"failed","commandActions":[],'
            '"aggregatedOutput":"before\\n","exitCode":3,"durationMs":null}',
            '{"type":"CommandExecution","id":"i","process_id":"55878",'
            '"command":["/bin/bash","-lc","exit 3"],"cwd":"file:///workspace","parsed_cmd":[],'
            '"source":"unified_exec_startup","status":"failed","stdout":"before\\n","stderr":"",'
            '"aggregated_output":"before\\n","exit_code":3,"formatted_output":"before\\n"}',
            id="command",
        ),
        pytest.param(
            '{"id":"i","type":"web_search","query":"weather in Oslo",'
            '"action":{"type":"search","query":"weather in Oslo"}}',
            '{"type":"webSearch","id":"i","query":"weather in Oslo",'
            '"action":{"type":"search","query":"weather in Oslo"}}',
            '{"type":"WebSearch","id":"i","query":"weather in Oslo",'
            '"action":{"type":"search","query":"weather in Oslo"}}',
            id="web search",
        ),
        pytest.param(
            '{"id":"i","type":"collab_tool_call","tool":"wait","sender_thread_id":"s",'
            '"receiver_thread_ids":["c"],"prompt":null,"agents_states":{"c":'
            '{"status":"completed","message":"child result: 7"}},"status":"completed"}',
            '{"type":"collabAgentToolCall","id":"i","tool":"wait","status":"completed",'
            '"senderThreadId":"s","receiverThreadIds":["c"],"prompt":null,"model":null,'
            '"agentsStates":{"c":{"status":"completed","message":"child result: 7"}}}',
            '{"type":"CollabAgentToolCall","id":"i","tool":"wait","status":"completed",'
            '"sender_thread_id":"s","receiver_thread_ids":["c"],"receiver_agents":[],'
            '"agents_states":{"c":{"completed":"child result: 7"}}}',
            id="sub-agent",
        ),
    ],
)
def test_one_item_is_the_same_in_its_three_spellings(
    exec_row: str, wire_row: str, rollout_row: str
) -> None:
    expected = told(msgspec.json.decode(exec_row, type=ThreadItem))

    assert expected
    assert told(msgspec.json.decode(wire_row, type=WireItem)) == expected
    assert told(msgspec.json.decode(rollout_row, type=ThreadItem)) == expected


def test_words_are_told_from_tools_in_every_spelling() -> None:
    for said in (
        ["user_message", "userMessage", "UserMessage"],
        ["agent_message", "agentMessage", "AgentMessage"],
        ["context_compaction", "contextCompaction", "ContextCompaction"],
        ["hook_prompt", "hookPrompt", "HookPrompt"],
        ["reasoning", "Reasoning"],
        ["plan", "Plan"],
    ):
        assert SAID.issuperset(said)
    for tool in ("command_execution", "fileChange", "McpToolCall", "brand_new"):
        assert tool not in SAID


def test_an_item_told_by_two_channels_is_told_once() -> None:
    out = Output(audit=True)
    session = SessionAssembler(out, "codex")
    begun = ThreadItem(type="CommandExecution", id="i", command=["bash", "-lc", "ls"])
    done = ThreadItem(
        type="commandExecution", id="i", command="bash -lc ls", aggregated_output="a\n"
    )
    for channel in ("event", "item"):
        tell_item(session, channel, begun, done=False)
        tell_item(session, channel, done, done=True)

    names = [type(message).__name__ for message in out.take_messages()]
    assert names == ["TurnStarted", "ToolCall", "ToolResult"]
    assert [duplicate.reason for duplicate in out.take_duplicates()] == [
        "tool call: emitted before",
        "tool result: emitted before",
    ]


def test_an_item_that_is_done_without_having_begun_is_told_whole() -> None:
    [call, result] = told(ThreadItem(type="command_execution", id="i", command="ls", exit_code=0))

    assert type(call).__name__ == "ToolCall"
    assert isinstance(result, ToolResult)
