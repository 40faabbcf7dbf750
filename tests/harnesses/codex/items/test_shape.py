from __future__ import annotations

from typing import Any

import msgspec
import pytest

from dragoman.harnesses.codex.items.shape import (
    ThreadItem,
    WireItem,
    child_sessions,
    kind_of,
    phase_of,
    user_input,
)

PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg"
NO_ELEMENTS: list[Any] = []
CHILD = "01a1e14e-7320-74a2-a845-be7b5a578011"


@pytest.mark.parametrize(
    ("spellings", "kind"),
    [
        (["command_execution", "commandExecution", "CommandExecution"], "command_execution"),
        (["mcp_tool_call", "mcpToolCall", "McpToolCall"], "mcp_tool_call"),
        (["agent_message", "agentMessage", "AgentMessage"], "agent_message"),
        (["sub_agent_activity", "subAgentActivity", "SubAgentActivity"], "sub_agent_activity"),
        (["todo_list"], "todo_list"),
        (["somethingNew", "SomethingNew"], "something_new"),
        ([""], ""),
    ],
)
def test_an_item_s_type_is_one_in_its_three_spellings(spellings: list[str], kind: str) -> None:
    assert {kind_of(ThreadItem(type=spelling)) for spelling in spellings} == {kind}


def test_the_experimental_stream_spells_the_type_otherwise() -> None:
    row = b'{"id":"item_1","item_type":"assistant_message","text":"Looking."}'

    item = msgspec.json.decode(row, type=ThreadItem)
    assert (kind_of(item), item.text) == ("assistant_message", "Looking.")


def test_the_app_server_s_fields_are_read_in_camel_case() -> None:
    row = (
        b'{"type":"commandExecution","id":"call_1","command":"ls","aggregatedOutput":"a\\n",'
        b'"exitCode":0,"durationMs":52,"processId":"33076","commandActions":[]}'
    )

    item = msgspec.json.decode(row, type=WireItem)
    assert (item.aggregated_output, item.exit_code, item.duration_ms) == ("a\n", 0, 52)


def test_both_shapes_have_the_same_fields() -> None:
    ours = {field.name: field.default for field in msgspec.structs.fields(ThreadItem)}

    assert {field.name: field.default for field in msgspec.structs.fields(WireItem)} == ours


def test_fields_that_are_new_to_us_do_no_harm() -> None:
    row = b'{"type":"plan","id":"p","text":"x","startedAtMs":1,"brandNew":{"a":[1]}}'

    assert msgspec.json.decode(row, type=WireItem).text == "x"


@pytest.mark.parametrize(
    ("item", "children"),
    [
        (
            ThreadItem(type="collabAgentToolCall", tool="spawnAgent", receiver_thread_ids=[CHILD]),
            [CHILD],
        ),
        (
            ThreadItem(type="collab_tool_call", tool="spawn_agent", receiver_thread_ids=[CHILD]),
            [CHILD],
        ),
        (ThreadItem(type="collab_tool_call", tool="spawn_agent"), []),
        (ThreadItem(type="collab_tool_call", tool="wait", receiver_thread_ids=[CHILD]), []),
        (ThreadItem(type="SubAgentActivity", kind="started", agent_thread_id=CHILD), [CHILD]),
        (ThreadItem(type="SubAgentActivity", agent_thread_id=CHILD), [CHILD]),
        (ThreadItem(type="SubAgentActivity", kind="interacted", agent_thread_id=CHILD), []),
        (ThreadItem(type="agent_message"), []),
    ],
    ids=["v1", "exec", "not made yet", "waiting", "v2", "v2, no word", "a letter", "no agent"],
)
def test_children_are_the_agents_that_an_item_started(
    item: ThreadItem, children: list[str]
) -> None:
    assert child_sessions(item) == children


@pytest.mark.parametrize(
    ("content", "text", "images"),
    [
        pytest.param(
            [{"type": "text", "text": "do it", "text_elements": NO_ELEMENTS}],
            "do it",
            [],
            id="words",
        ),
        pytest.param(
            [
                {"type": "text", "text": "look at this", "text_elements": NO_ELEMENTS},
                {"type": "local_image", "path": "/workspace/pic.png"},
                {"type": "image", "image_url": PIXEL},
                {"type": "text", "text": "and this", "text_elements": NO_ELEMENTS},
            ],
            "look at thisand this",
            ["/workspace/pic.png", PIXEL],
            id="rollout",
        ),
        pytest.param(
            [
                {"type": "text", "text": "look"},
                {"type": "localImage", "detail": None, "path": "/workspace/pic.png"},
                {"type": "image", "detail": None, "url": PIXEL},
            ],
            "look",
            ["/workspace/pic.png", PIXEL],
            id="app-server",
        ),
        pytest.param(
            [{"type": "image", "imageUrl": "https://example.com/a.png"}],
            "",
            ["https://example.com/a.png"],
            id="camelCase",
        ),
        pytest.param([{"type": "text", "data": {"text": "do it"}}], "do it", [], id="A1"),
        pytest.param(
            [
                {"type": "text", "text": "use @README.md now"},
                {"type": "mention", "name": "README.md", "path": "/workspace/README.md"},
                {"type": "skill", "name": "skill-creator", "path": "/skills/SKILL.md"},
            ],
            "use @README.md now",
            [],
            id="mentions and skills are no pictures",
        ),
        pytest.param([], "", [], id="nothing"),
        pytest.param(None, "", [], id="none"),
        pytest.param([None, "x", {"type": "image", "url": 5}], "", [], id="odd"),
    ],
)
def test_a_user_s_input_is_words_and_pictures(content: Any, text: str, images: list[str]) -> None:
    assert user_input(content) == (text, images)


@pytest.mark.parametrize(
    ("phase", "ours"),
    [
        ("commentary", "commentary"),
        ("final_answer", "final_answer"),
        ("something_new", None),
        (None, None),
    ],
)
def test_a_phase_that_is_new_to_us_is_none(phase: str | None, ours: str | None) -> None:
    assert phase_of(phase) == ours
