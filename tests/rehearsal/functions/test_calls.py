from __future__ import annotations

from typing import Any

import pytest

from dragoman.rehearsal.functions.calls import FunctionTools
from dragoman.rehearsal.functions.offered import offered_functions
from dragoman.rehearsal.reading import parse_script
from dragoman.rehearsal.wires import StepCalls
from rehearsal.functions.declared import PLAIN, as_chat

_FOLDERS = {
    "gemini": "- **Workspace Directories:**\n  - /w\n",
    "copilot": "* Current working directory: /w\n",
    "qwen": "I'm currently working in the directory: /w\n",
    "opencode": "  Working directory: /w\n",
}


def _tools(agent: str, **options: Any) -> FunctionTools:
    offered = offered_functions(as_chat(PLAIN[agent]))
    return FunctionTools(offered, texts=[_FOLDERS[agent]], **options)


def _calls(agent: str, step: str, **options: Any) -> StepCalls:
    return _tools(agent, **options).calls(parse_script(f"- {step}").turns[0].steps[0])


def _one(agent: str, step: str) -> tuple[str, dict[str, Any]]:
    (call,) = _calls(agent, step).calls
    return call["name"], call["arguments"]


_EXPECTED: dict[str, dict[str, tuple[str, dict[str, Any]]]] = {
    "run: ls": {
        "gemini": ("run_shell_command", {"command": "ls", "description": "Run a command"}),
        "copilot": ("bash", {"command": "ls", "description": "Run a command"}),
        "qwen": ("run_shell_command", {"command": "ls", "description": "Run a command"}),
        "opencode": ("bash", {"command": "ls"}),
    },
    "read: a.txt": {
        "gemini": ("read_file", {"file_path": "/w/a.txt"}),
        "copilot": ("view", {"path": "/w/a.txt"}),
        "qwen": ("read_file", {"file_path": "/w/a.txt"}),
        "opencode": ("read", {"filePath": "/w/a.txt"}),
    },
    "write: {path: a.txt, text: hi}": {
        "gemini": ("write_file", {"file_path": "/w/a.txt", "content": "hi"}),
        "copilot": ("create", {"path": "/w/a.txt", "file_text": "hi"}),
        "qwen": ("write_file", {"file_path": "/w/a.txt", "content": "hi"}),
        "opencode": ("write", {"filePath": "/w/a.txt", "content": "hi"}),
    },
    "plan: [{doing: Look}]": {
        "gemini": ("write_todos", {"todos": [{"description": "Look", "status": "in_progress"}]}),
        "copilot": (
            "sql",
            {
                "query": "INSERT OR REPLACE INTO todos (id, title, status)"
                " VALUES ('step-1', 'Look', 'in_progress')",
                "description": "Update todos",
            },
        ),
        "qwen": (
            "todo_write",
            {"todos": [{"id": "1", "content": "Look", "status": "in_progress"}]},
        ),
        "opencode": (
            "todowrite",
            {"todos": [{"content": "Look", "status": "in_progress", "priority": "medium"}]},
        ),
    },
    "agent: {prompt: Go, description: Look around}": {
        "gemini": ("invoke_agent", {"prompt": "Go", "agent_name": "generalist"}),
        "copilot": (
            "task",
            {
                "prompt": "Go",
                "description": "Look around",
                "name": "look-around",
                "agent_type": "general-purpose",
                "mode": "sync",
            },
        ),
        "qwen": (
            "agent",
            {
                "prompt": "Go",
                "description": "Look around",
                "subagent_type": "general-purpose",
                "run_in_background": False,
            },
        ),
        "opencode": (
            "task",
            {"prompt": "Go", "description": "Look around", "subagent_type": "general"},
        ),
    },
    "mcp: {server: tickets, tool: find, arguments: {q: door}}": {
        "gemini": ("mcp_tickets_find", {"q": "door"}),
        "copilot": ("tickets-find", {"q": "door"}),
        "qwen": ("tool_call", {"name": "mcp__tickets__find", "arguments": {"q": "door"}}),
        "opencode": ("tickets_find", {"q": "door"}),
    },
}


@pytest.mark.parametrize("agent", [*PLAIN])
@pytest.mark.parametrize("step", [*_EXPECTED])
def test_a_step_becomes_a_call_in_the_words_of_the_agent(agent: str, step: str) -> None:
    assert _one(agent, step) == _EXPECTED[step][agent]


@pytest.mark.parametrize(
    ("agent", "arguments"),
    [
        (
            "gemini",
            {
                "file_path": "/w/a",
                "old_string": "x",
                "new_string": "y",
                "instruction": "As the script says",
            },
        ),
        ("copilot", {"path": "/w/a", "old_str": "x", "new_str": "y"}),
        ("qwen", {"file_path": "/w/a", "old_string": "x", "new_string": "y"}),
        ("opencode", {"filePath": "/w/a", "oldString": "x", "newString": "y"}),
    ],
)
def test_an_edit_is_preceded_by_a_look_where_the_agent_insists(
    agent: str, arguments: dict[str, Any]
) -> None:
    step = "edit: {path: a, old: x, new: y}"
    unread = _calls(agent, step)
    name = {"gemini": "replace"}.get(agent, "edit")
    assert [(call["name"], call["arguments"]) for call in unread.calls] == [(name, arguments)]
    insists = agent in ("qwen", "opencode")
    assert bool(unread.before) == insists
    if insists:
        seen = [(unread.before[0]["name"], unread.before[0]["arguments"])]
        assert _calls(agent, step, called=seen).before == ()
        assert _calls(agent, step, prepared=True).before == ()


def test_a_patch_becomes_one_call_for_each_change() -> None:
    patch = """patch: |
    *** Begin Patch
    *** Add File: new.txt
    +hi
    *** Delete File: old.txt
    *** Update File: a.txt
    *** Move to: b.txt
    @@
    -x
    +y
    *** End Patch"""
    names = [call["name"] for call in _calls("copilot", patch).calls]
    assert names == ["create", "bash", "edit", "bash"]
    offered = offered_functions(
        as_chat([{"name": "apply_patch", "parameters": {"properties": {"input": {}}}}])
    )
    whole = FunctionTools(offered).calls(parse_script(f"- {patch}").turns[0].steps[0])
    assert whole.calls[0]["arguments"]["input"].startswith("*** Begin Patch\n*** Add File: new.txt")


def test_options_of_a_command_go_where_the_agent_has_a_place_for_them() -> None:
    step = "run: {command: ls, workdir: /x, wait: 2, escalate: Because}"
    assert _one("qwen", step)[1] == {
        "command": "ls",
        "description": "Because",
        "directory": "/x",
        "timeout": 2000,
    }
    assert _one("copilot", step)[1] == {"command": "cd /x && ls", "description": "Because"}


def test_a_question_has_the_form_of_the_agent() -> None:
    step = "ask: {question: 'Which?', options: [Left, Right]}"
    assert _one("copilot", step) == (
        "ask_user",
        {"question": "Which?", "choices": ["Left", "Right"]},
    )
    name, arguments = _one("gemini", step)
    assert (name, arguments["questions"][0]["type"]) == ("ask_user", "choice")
    assert [each["label"] for each in arguments["questions"][0]["options"]] == ["Left", "Right"]


def test_what_the_agent_has_no_tool_for_is_left_out() -> None:
    for step in ("search: rain", "ask: Which?", "search: {url: 'https://x.invalid'}"):
        assert not _calls("opencode", step)
    assert not FunctionTools([]).calls(parse_script("- run: ls").turns[0].steps[0])
    assert _one("opencode", "tool: {name: odd, arguments: {a: 1}}") == ("odd", {"a": 1})


def test_a_sub_agent_hands_in_its_result_in_the_form_that_is_asked_for() -> None:
    result: dict[str, Any] = {"type": "object", "properties": {"response": {"type": "string"}}}
    result["required"] = ["response"]
    function = {"name": "complete_task", "parameters": {"properties": {"result": result}}}
    tools = FunctionTools(offered_functions(as_chat([function])))
    assert tools.finishing("7") == {
        "name": "complete_task",
        "arguments": {"result": {"response": "7"}},
    }
    assert _tools("gemini").finishing("7") is None
