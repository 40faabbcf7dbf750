from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.harnesses.codex.tools.agents import (
    activity_call,
    agent_call,
    answered,
    reader_of,
    reported,
)

CHILD = "01a1e14e-7320-74a2-a845-be7b5a578011"
OTHER = "01a1e22a-08ac-7c20-b603-c2e67066efa0"
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text() | st.sampled_from(["status", "message", "completed", "errored"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


def call_of(name: str, given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    read = reader_of(name, given)
    assert read is not None
    return read(given)


# The agent's own calls.


@pytest.mark.parametrize(
    ("name", "given", "tool", "call"),
    [
        pytest.param(
            "spawn_agent",
            {"message": "CHILD-TASK compute 3+4", "agent_type": "worker"},
            "Task",
            {"prompt": "CHILD-TASK compute 3+4"},
            id="v1 spawn",
        ),
        pytest.param(
            "spawn_agent",
            {"items": [{"type": "text", "text": "CHILD-"}, {"type": "text", "text": "TASK"}]},
            "Task",
            {"prompt": "CHILD-TASK"},
            id="v1 spawn with items",
        ),
        pytest.param(
            "spawn_agent",
            {"task_name": "adder", "message": "CHILD-TASK compute 3+4"},
            "Task",
            {"prompt": "CHILD-TASK compute 3+4", "description": "adder"},
            id="v2 spawn",
        ),
        pytest.param(
            "wait",
            {"targets": [CHILD], "ids": [CHILD], "timeout_ms": 30000},
            "TaskOutput",
            {"agent_ids": [CHILD]},
            id="wait, to 0.113",
        ),
        pytest.param(
            "wait_agent",
            {"targets": [CHILD, OTHER], "timeout_ms": 30000},
            "TaskOutput",
            {"agent_ids": [CHILD, OTHER]},
            id="v1 wait",
        ),
        pytest.param(
            "wait_agent", {"timeout_ms": 20000}, "TaskOutput", {"agent_ids": []}, id="v2 wait"
        ),
        pytest.param(
            "close_agent",
            {"target": CHILD, "id": CHILD},
            "TaskStop",
            {"agent_ids": [CHILD]},
            id="v1 close",
        ),
        pytest.param(
            "interrupt_agent",
            {"target": "adder"},
            "TaskStop",
            {"agent_ids": ["adder"]},
            id="v2 interrupt",
        ),
        pytest.param(
            "send_input",
            {"target": CHILD, "message": "CHILD-TASK again"},
            "SendMessage",
            {"agent_ids": [CHILD], "message": "CHILD-TASK again"},
            id="v1 send",
        ),
        pytest.param(
            "send_message",
            {"target": "adder", "message": "CHILD-TASK note"},
            "SendMessage",
            {"agent_ids": ["adder"], "message": "CHILD-TASK note"},
            id="v2 send",
        ),
        pytest.param(
            "followup_task",
            {"target": "adder", "message": "CHILD-TASK again"},
            "SendMessage",
            {"agent_ids": ["adder"], "message": "CHILD-TASK again"},
            id="v2 follow-up",
        ),
        pytest.param(
            "resume_agent", {"id": CHILD}, "resume_agent", {"agent_ids": [CHILD]}, id="resume"
        ),
    ],
)
def test_a_call_that_manages_agents_is_read(
    name: str, given: dict[str, Any], tool: str, call: dict[str, Any]
) -> None:
    assert call_of(name, given) == (tool, call)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("wait", {"cell_id": "1", "yield_time_ms": 8000}),
        ("exec_command", {"cmd": "ls"}),
        ("list_agents", {}),
    ],
)
def test_other_calls_are_not(name: str, given: dict[str, Any]) -> None:
    assert reader_of(name, given) is None


@given(json_values, st.sampled_from(["spawn_agent", "wait_agent", "send_input", "close_agent"]))
def test_no_arguments_raise(value: Any, name: str) -> None:
    given = {"message": value, "targets": value, "target": value, "items": value}

    assert call_of(name, given)[0] in ("Task", "TaskOutput", "SendMessage", "TaskStop")


# The harness's items about the same calls.


@pytest.mark.parametrize(
    ("names", "tool", "call"),
    [
        (["spawnAgent", "spawn_agent"], "Task", {"prompt": "go"}),
        (["wait", "waitAgent", "wait_agent"], "TaskOutput", {"agent_ids": [CHILD]}),
        (["closeAgent", "close_agent", "interruptAgent"], "TaskStop", {"agent_ids": [CHILD]}),
        (
            ["sendInput", "send_input", "sendMessage", "followupTask"],
            "SendMessage",
            {"agent_ids": [CHILD], "message": "go"},
        ),
        (["resumeAgent", "resume_agent"], "resume_agent", {"agent_ids": [CHILD]}),
        (["promoteAgent"], "promoteAgent", {"agent_ids": [CHILD], "prompt": "go"}),
    ],
)
def test_an_item_tells_the_same_call(names: list[str], tool: str, call: dict[str, Any]) -> None:
    for name in names:
        assert agent_call(name, "go", [CHILD]) == (tool, call)


def test_a_call_without_a_prompt_has_an_empty_one_or_none() -> None:
    assert agent_call("spawnAgent", None, []) == ("Task", {"prompt": ""})
    assert agent_call("promoteAgent", None, []) == ("promoteAgent", {"agent_ids": []})


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        ("started", ("Task", {"description": "adder"})),
        ("interacted", ("SendMessage", {"agent_ids": ["adder"]})),
        ("interrupted", ("TaskStop", {"agent_ids": ["adder"]})),
        ("completed", None),
        ("something_new", None),
    ],
)
def test_word_of_an_agent_s_doings_names_the_call_behind_it(
    kind: str, call: tuple[str, dict[str, Any]] | None
) -> None:
    assert activity_call(kind, "/root/adder") == call


# What the calls gave.


@pytest.mark.parametrize(
    ("tool", "output", "text", "failed"),
    [
        pytest.param(
            "Task", f'{{"agent_id":"{CHILD}","nickname":"Erdos"}}', CHILD, False, id="v1 spawn"
        ),
        pytest.param("Task", '{"task_name":"/root/adder"}', "/root/adder", False, id="v2 spawn"),
        pytest.param(
            "TaskOutput",
            f'{{"status":{{"{CHILD}":{{"completed":"child result: 7"}}}},"timed_out":false}}',
            "child result: 7",
            False,
            id="v1 wait",
        ),
        pytest.param(
            "TaskOutput",
            f'{{"status":{{"{OTHER}":{{"completed":"two"}},"{CHILD}":{{"completed":"one"}}}}}}',
            "one\ntwo",
            False,
            id="v1 wait for two, in the order of their ids",
        ),
        pytest.param(
            "TaskOutput",
            f'{{"status":{{"{CHILD}":{{"completed":null}}}},"timed_out":false}}',
            "completed",
            False,
            id="without a last word",
        ),
        pytest.param(
            "TaskOutput",
            f'{{"status":{{"{CHILD}":{{"errored":"bad child"}}}},"timed_out":false}}',
            "bad child",
            True,
            id="an agent that failed",
        ),
        pytest.param(
            "TaskOutput",
            f'{{"status":{{"{CHILD}":"not_found"}},"timed_out":false}}',
            "not_found",
            True,
            id="no such agent",
        ),
        pytest.param(
            "TaskOutput", '{"status":{},"timed_out":true}', "timed out", False, id="v1 timed out"
        ),
        pytest.param(
            "TaskOutput",
            '{"message":"Wait completed.","timed_out":false}',
            "",
            False,
            id="v2 wait",
        ),
        pytest.param(
            "TaskStop",
            '{"previous_status":{"completed":"child again: 7"}}',
            "child again: 7",
            False,
            id="close",
        ),
        pytest.param(
            "TaskStop",
            '{"status":{"completed":"child again: 7"}}',
            "child again: 7",
            False,
            id="close, to 0.113",
        ),
        pytest.param("TaskStop", '{"previous_status":"running"}', "running", False, id="a word"),
        pytest.param(
            "SendMessage", f'{{"submission_id":"{OTHER}"}}', "", False, id="v1 send"
        ),
        pytest.param("SendMessage", "", "", False, id="v2 send"),
    ],
)  # fmt: skip
def test_an_answer_is_read(tool: str, output: str, text: str, failed: bool) -> None:
    assert answered(tool, output) == (text, failed)


@pytest.mark.parametrize(
    ("tool", "output"),
    [
        ("Task", '{"something":"else"}'),
        ("Task", "collab spawn failed: agent limit reached"),
        ("SendMessage", '{"something":"else"}'),
        ("TaskOutput", '{"message":"Interrupted.","timed_out":false}'),
        ("TaskOutput", '{"broken'),
        ("TaskOutput", '{"a":' * 20_000),
        ("Bash", f'{{"agent_id":"{CHILD}"}}'),
        ("mcp__crew__spawn", '{"status":{},"timed_out":true}'),
    ],
    ids=["no id", "words", "no receipt", "another word", "broken", "deep", "shell", "MCP"],
)
def test_any_other_answer_is_kept_as_it_is(tool: str, output: str) -> None:
    assert answered(tool, output) == (output, False)


@pytest.mark.parametrize(
    "states",
    [
        {CHILD: {"status": "completed", "message": "child result: 7"}},
        {CHILD: {"completed": "child result: 7"}},
    ],
    ids=["exec and app-server", "rollout"],
)
def test_an_item_tells_the_same_last_words_as_the_answer(states: Any) -> None:
    answer = f'{{"status":{{"{CHILD}":{{"completed":"child result: 7"}}}},"timed_out":false}}'

    assert reported("TaskOutput", [CHILD], states) == answered("TaskOutput", answer)[0]


@pytest.mark.parametrize(
    ("states", "text"),
    [
        ({CHILD: "pending_init"}, "pending_init"),
        ({CHILD: {"status": "pendingInit", "message": None}}, "pending_init"),
        ({CHILD: {"status": "completed", "message": None}}, "completed"),
        ({CHILD: {"status": "errored", "message": "bad child"}}, "bad child"),
        ({CHILD: {"errored": "bad child"}}, "bad child"),
        ({OTHER: {"completed": "two"}, CHILD: {"completed": "one"}}, "one\ntwo"),
        ({CHILD: None}, ""),
        ({}, ""),
        (None, ""),
    ],
    ids=str,
)
def test_states_are_read_in_every_spelling(states: Any, text: str) -> None:
    assert reported("TaskOutput", [CHILD], states) == text
    assert reported("TaskStop", [CHILD], states) == text


def test_a_new_agent_is_reported_by_its_id_and_a_message_by_nothing() -> None:
    assert reported("Task", [CHILD, OTHER], {CHILD: "pending_init"}) == f"{CHILD}\n{OTHER}"
    assert reported("SendMessage", [CHILD], {CHILD: {"completed": "x"}}) == ""


@given(json_values, st.sampled_from(["Task", "TaskOutput", "TaskStop", "SendMessage", "Bash"]))
def test_no_state_raises(states: Any, tool: str) -> None:
    assert isinstance(reported(tool, [CHILD], states), str)
