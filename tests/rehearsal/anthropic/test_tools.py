from __future__ import annotations

from typing import Any

import pytest

from dragoman.rehearsal.anthropic.tools import MessagesTools
from dragoman.rehearsal.reading import parse_script
from dragoman.rehearsal.script import (
    Agent,
    Ask,
    Edit,
    Mcp,
    Patch,
    Plan,
    PlanStep,
    Read,
    Run,
    Search,
    Step,
    Tool,
    Write,
)
from dragoman.rehearsal.wires import StepCalls

_OPTIONS = {"Bash": ["command", "dangerouslyDisableSandbox"], "Agent": ["run_in_background"]}
_REMINDER = """\
<system-reminder>
The following deferred tools are now available via ToolSearch. Their schemas are NOT loaded:
TaskCreate
TaskUpdate
WebSearch
mcp__tiny__add
</system-reminder>"""
_PLAN = Plan((PlanStep("Look", "in_progress"),))


def _tools(*more: dict[str, Any], names: str = "Agent Bash Edit Read Write", **options: Any) -> Any:
    tools: list[dict[str, Any]] = [
        {
            "name": name,
            "input_schema": {"properties": {key: {} for key in _OPTIONS.get(name, ["x"])}},
        }
        for name in names.split()
    ]
    system = [{"type": "text", "text": "# Environment\n - Primary working directory: /w\n"}]
    first = {"role": "user", "content": [{"type": "text", "text": _REMINDER}]}
    body: dict[str, Any] = {"tools": tools, "system": system, "messages": [first, *more]}
    return MessagesTools(body, **options)


def _uses(calls: StepCalls) -> list[tuple[str, Any]]:
    return [(call["name"], call["input"]) for call in calls.calls]


@pytest.mark.parametrize(
    ("step", "name", "given"),
    [
        (Run("ls"), "Bash", {"command": "ls"}),
        (Run("ls", workdir="/a b"), "Bash", {"command": "cd '/a b' && ls"}),
        (Run("ls", wait=2), "Bash", {"command": "ls", "timeout": 2000}),
        (
            Run("ls", "Needed."),
            "Bash",
            {"command": "ls", "description": "Needed.", "dangerouslyDisableSandbox": True},
        ),
        (Read("a.txt"), "Read", {"file_path": "/w/a.txt"}),
        (Write("/x/a.txt", "hi"), "Write", {"file_path": "/x/a.txt", "content": "hi"}),
        (Search("rain"), "WebSearch", {"query": "rain"}),
        (Mcp("tiny", "add", {"a": 1}), "mcp__tiny__add", {"a": 1}),
        (Tool("Odd", {"a": 1}), "Odd", {"a": 1}),
        (
            Agent("Look.", "Scout"),
            "Agent",
            {
                "prompt": "Look.",
                "subagent_type": "general-purpose",
                "description": "Scout",
                "run_in_background": False,
            },
        ),
    ],
)
def test_a_step_is_a_call_of_a_tool_that_is_offered(step: Step, name: str, given: Any) -> None:
    assert _uses(_tools().calls(step)) == [(name, given)]
    assert _tools().calls(step).before == ()


@pytest.mark.parametrize(
    "step", [Run("ls"), Read("a"), Write("a", "b"), Agent("x"), Ask("Which?"), Edit("a", "b", "c")]
)
def test_a_step_without_a_tool_is_left_out(step: Step) -> None:
    assert not _tools(names="Skill").calls(step)
    assert not _tools().calls(Search(url="https://example.com"))


def test_a_question_has_its_options() -> None:
    [(name, given)] = _uses(_tools(names="AskUserQuestion").calls(Ask("Which?", ("A", "B"))))

    assert name == "AskUserQuestion"
    assert [option["label"] for option in given["questions"][0]["options"]] == ["A", "B"]


def test_a_file_is_read_before_it_is_edited() -> None:
    edit = Edit("a.txt", "old", "new")
    read = {"type": "tool_use", "name": "Read", "input": {"file_path": "/w/a.txt"}}
    change = {"file_path": "/w/a.txt", "old_string": "old", "new_string": "new"}

    first = _tools().calls(edit)
    known = _tools({"role": "assistant", "content": [read]}).calls(edit)

    assert first.before == ({"name": "Read", "input": {"file_path": "/w/a.txt"}},)
    assert known.before == _tools(prepared=True).calls(edit).before == ()
    assert _uses(known) == [("Edit", change)]


def test_a_patch_is_one_call_for_each_change() -> None:
    [turn] = parse_script(
        """\
- patch: |
    *** Begin Patch
    *** Add File: new.txt
    +one
    *** Update File: a.txt
    *** Move to: b.txt
    @@
    -old
    +new
    @@
    +end
    *** Delete File: c.txt
    *** End Patch
"""
    ).turns
    [step] = turn.steps
    assert isinstance(step, Patch)

    calls = _tools().calls(step)

    assert [name for name, _ in _uses(calls)] == ["Write", "Edit", "Bash", "Bash", "Bash"]
    assert [call["input"]["command"] for call in calls.calls if call["name"] == "Bash"] == [
        "printf '%s\\n' end >> /w/a.txt",
        "mv /w/a.txt /w/b.txt",
        "rm /w/c.txt",
    ]
    assert [call["input"] for call in calls.before] == [{"file_path": "/w/a.txt"}]


def test_a_plan_is_a_list_or_tasks() -> None:
    todo = {"content": "Look", "status": "in_progress", "activeForm": "Look"}

    assert _uses(_tools(names="TodoWrite").calls(_PLAN)) == [("TodoWrite", {"todos": [todo]})]
    tasks = _tools().calls(_PLAN)
    assert [call["name"] for call in tasks.before] == ["TaskCreate"]
    assert not MessagesTools({}).calls(_PLAN)
