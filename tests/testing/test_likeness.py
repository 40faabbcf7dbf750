from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from dragoman.harnesses.contract.reading import Limit
from dragoman.model.messages import (
    Message,
    Notice,
    Plan,
    PlanStep,
    Prompt,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnError,
    TurnStarted,
)
from dragoman.model.turns import Turn, fold
from dragoman.model.usage import Usage
from dragoman.reading.conversion import all_limits
from dragoman.testing.likeness import Difference, differences


def limit(aspect: str, *tools: str) -> Limit:
    return Limit(dialect="d", aspect=aspect, why="it is so", tools=tools)


def turn(*messages: Message, **ended: Any) -> list[Turn]:
    """One turn that holds the messages; completed, if nothing else is said."""
    ended.setdefault("outcome", "completed")
    return fold([TurnStarted(turn_id="t"), *messages, TurnEnded(turn_id="t", **ended)])


def use(
    tool: str = "Bash",
    call_input: dict[str, Any] | None = None,
    output: str = "ok",
    call_id: str = "c1",
    native_tool: str = "",
    **result: Any,
) -> list[Message]:
    """A call and its result."""
    return [
        ToolCall(
            call_id=call_id, tool=tool, native_tool=native_tool or tool, input=call_input or {}
        ),
        ToolResult(call_id=call_id, output=output, **result),
    ]


def edit(output: str = "ok", **change: str) -> list[Message]:
    return use("Edit", {"changes": [{"path": "/w/a.txt", "kind": "update", **change}]}, output)


def plan(explanation: str | None = None, status: Any = "in_progress") -> Plan:
    return Plan(steps=[PlanStep("look", status), PlanStep("fix")], explanation=explanation)


ASKED, DONE = Prompt(text="fix it"), Text(text="Done.")
FAILED = TurnError("rate_limit", "slow down", retryable=True)


def test_a_stream_is_like_itself() -> None:
    turns = turn(ASKED, Thinking(text="hm"), *use(exit_code=0), plan(), DONE, usage=Usage(10))

    assert differences(turns, turns) == []


def test_ids_times_and_durations_are_no_part_of_a_conversation() -> None:
    at = datetime(2026, 11, 15, tzinfo=UTC)
    one = turn(ASKED, *use(duration_ms=5), Text(text="Done.", message_id="m1"))
    other = fold(
        [
            TurnStarted(session_id="s", turn_id="0", at=at, line=4),
            Prompt(session_id="s", text="fix it", at=at, line=5),
            ToolCall(session_id="s", call_id="x", tool="Bash", native_tool="local_shell", line=7),
            ToolResult(session_id="s", call_id="x", output="ok", line=8),
            Text(session_id="s", text="Done.", phase="final_answer", line=9),
            TurnEnded(session_id="s", turn_id="0", outcome="completed"),
        ]
    )

    assert differences(one, other) == []


def test_thoughts_may_be_told_in_one_go_or_in_parts() -> None:
    whole = turn(Thinking(text="look\nfix"), DONE)
    parts = turn(Thinking(text="look"), Thinking(text="fix"), DONE)

    assert differences(whole, parts) == []


SEEN: dict[str, tuple[list[Turn], list[Turn]]] = {
    "number of turns": (turn() + turn(), turn()),
    "prompts": (turn(ASKED), turn(Prompt(text="mend it"))),
    "images": (turn(Prompt(text="x", images=["a", "b"])), turn(Prompt(text="x", images=["a"]))),
    "outcome": (turn(outcome="completed"), turn(outcome="interrupted")),
    "error": (turn(outcome="failed", error=FAILED), turn(outcome="failed")),
    "usage": (turn(usage=Usage(10)), turn(usage=Usage(11))),
    "plans": (turn(plan()), turn(plan(status="completed"))),
    "steps": (turn(DONE), turn(Text(text="Done!"))),
    "input of Bash": (turn(*use(call_input={"command": "ls"})), turn(*use())),
    "result of Bash": (turn(*use()), turn(*use()[:1])),
    "error of Bash": (turn(*use(is_error=True)), turn(*use())),
    "exit code of Bash": (turn(*use(exit_code=1)), turn(*use(exit_code=0))),
    "output of Bash": (turn(*use(output="a")), turn(*use(output="b"))),
}


@pytest.mark.parametrize(("what", "streams"), SEEN.items(), ids=SEEN)
def test_whatever_differs_is_named(what: str, streams: tuple[list[Turn], list[Turn]]) -> None:
    one, other = streams

    assert [found.what for found in differences(one, other)] == [what]
    assert [found.what for found in differences(other, one)] == [what]


def test_a_difference_names_its_turn_and_shows_both_sides() -> None:
    [found] = differences(turn() + turn(DONE), turn() + turn(Text(text="Bye.")))

    assert found == Difference(2, "steps", [("text", "Done.")], [("text", "Bye.")])
    assert str(found) == "turn 2, steps: [('text', 'Done.')] against [('text', 'Bye.')]"


def test_images_may_come_in_any_order() -> None:
    assert (
        differences(
            turn(Prompt(text="x", images=["a", "b"])), turn(Prompt(text="x", images=["b", "a"]))
        )
        == []
    )


def test_looking_does_not_change_what_is_looked_at() -> None:
    one, other = turn(ASKED, *use(), DONE), turn(ASKED, DONE, outcome="interrupted")
    before = repr((one, other))

    differences(one, other, [limit("tail"), limit("promptless turns"), limit("order")])

    assert repr((one, other)) == before


TASK = use("Task", {"prompt": "add"}, call_id="c7")
LETTER = use("SendMessage", {"text": "hi"}, call_id="c8", native_tool="send_message")
SCRIPT = use("exec", {"script": "update_plan()"}, call_id="c9")
REVIEW = Notice(turn_id="t", level="info", text="review of the changes")
MOVED = {"diff": "@@", "move_path": "/w/b.txt"}

HIDDEN: dict[str, tuple[list[Turn], list[Turn]]] = {
    "shown outputs": (turn(*use("Read", output="")), turn(*use("Read", output="text"))),
    "command errors": (
        turn(*use(output="bad")),
        turn(*use(output="bad", is_error=True, exit_code=3, status="failed")),
    ),
    "prompts": (turn(DONE), turn(ASKED, DONE)),
    "promptless turns": (
        turn(ASKED, usage=Usage(10)) + turn(usage=Usage(5)),
        turn(ASKED, usage=Usage(15)),
    ),
    "command turns": (
        turn(Prompt(text="/stats"), Text(text="3 requests")) + turn(ASKED, DONE),
        turn(ASKED, DONE),
    ),
    "lookalike prompts": (turn(Prompt(text="<tag> x")), turn()),
    "tail": (turn(DONE, Text(text="More.")), turn(DONE, outcome="interrupted")),
    "failed ends": (turn(ASKED, outcome="failed"), fold([TurnStarted(turn_id="t"), ASKED])),
    "usage": (turn(), turn(usage=Usage(10))),
    "agent usage": (turn(usage=Usage(20)), turn(usage=Usage(10))),
    "agent steps": (turn(*use()), turn(Text(text="Looking."), *use(), DONE)),
    "turn usage": (
        turn(usage=Usage(10)) + turn(usage=Usage(5)),
        turn(usage=Usage(12)) + turn(usage=Usage(3)),
    ),
    "unfinished usage": (
        turn(outcome="interrupted"),
        turn(outcome="interrupted", usage=Usage(10)),
    ),
    "reasoning tokens": (turn(usage=Usage(10, 0, 0, 5)), turn(usage=Usage(10, 0, 0, 5, 3))),
    "outcome": (turn(outcome="failed", error=FAILED), turn(outcome="completed")),
    "failures": (turn(outcome="failed", error=FAILED), turn(outcome="completed")),
    "plan progress": (turn(plan(status="pending")), turn(plan(status="in_progress"))),
    "plan explanation": (turn(plan()), turn(plan("because"))),
    "scripted plans": (turn(*SCRIPT, plan()), turn(*SCRIPT)),
    "plans": (turn(plan()), turn()),
    "shown inputs": (turn(*use("Read", {})), turn(*use("Read", {"file_path": "/a"}))),
    "thinking": (turn(Thinking(text="hm"), DONE), turn(DONE)),
    "raw thinking": (
        turn(Thinking(text="sum"), DONE),
        turn(Thinking(text="sum"), Thinking(text="the whole chain"), DONE),
    ),
    "refused calls": (turn(DONE), turn(*use(is_error=True, call_id="c2"), DONE)),
    "lost texts": (turn(Text(text="Looking."), DONE), turn(DONE)),
    "review work": (turn(REVIEW, *use(), DONE), turn(REVIEW, DONE)),
    "letters": (turn(*TASK, DONE), turn(*TASK, *LETTER, DONE)),
    "strange steps": (turn(*TASK, Text(text="of the agent"), DONE), turn(*TASK, DONE)),
    "scripts": (turn(*SCRIPT, *use(), DONE), turn(*SCRIPT, DONE)),
    "order": (turn(DONE, *use()), turn(*use(), DONE)),
    "mcp inputs": (turn(*use("mcp__a__b")), turn(*use("mcp__a__b", {"x": 1}))),
    "mcp outputs": (turn(*use("mcp__a__b", output="")), turn(*use("mcp__a__b"))),
    "mcp errors": (turn(*use("mcp__a__b", is_error=True)), turn(*use("mcp__a__b"))),
    "dynamic errors": (turn(*use("lookup", is_error=True)), turn(*use("lookup"))),
    "late results": (
        turn(*use(status="abandoned", is_error=True)),
        turn(*use(output="at last", exit_code=0)),
    ),
    "edit outputs": (turn(*edit("")), turn(*edit("patched"))),
    "edit diffs": (turn(*edit()), turn(*edit(diff="@@"))),
    "edit moves": (turn(*edit()), turn(*edit(move_path="/w/b.txt"))),
    "edit paths": (turn(*edit(**MOVED)), turn(*edit(**MOVED, path="a.txt"))),
    "command outputs": (turn(*use(output="out err")), turn(*use(output="err"))),
    "command beginnings": (turn(*use(output="end")), turn(*use(output="the end"))),
    "long outputs": (
        turn(*use(output="a very long one")),
        turn(*use(output="a …3 tokens truncated… one")),
    ),
}


@pytest.mark.parametrize(("aspect", "streams"), HIDDEN.items(), ids=HIDDEN)
def test_a_limit_hides_what_it_names_and_only_when_it_is_there(
    aspect: str, streams: tuple[list[Turn], list[Turn]]
) -> None:
    one, other = streams

    assert differences(one, other, [limit("something else")]) != []
    assert differences(one, other, [limit(aspect)]) == []


def test_a_limit_on_calls_hides_the_calls_of_its_tools_only() -> None:
    one = turn(*use(), DONE)
    other = turn(*use(), *use("TodoWrite", call_id="c2"), *use("mcp__a__b", call_id="c3"), DONE)

    assert differences(one, other, [limit("calls", "TodoWrite", "mcp__")]) == []
    assert [found.what for found in differences(one, other, [limit("calls", "TodoWrite")])] == [
        "steps"
    ]


STILL_SEEN: dict[str, tuple[list[Turn], list[Turn]]] = {
    "failures": (turn(outcome="interrupted"), turn(outcome="completed")),
    "failed ends": (turn(DONE), fold([TurnStarted(turn_id="t"), DONE])),
    "unfinished usage": (turn(), turn(usage=Usage(10))),
    "reasoning tokens": (turn(usage=Usage(10)), turn(usage=Usage(11))),
    "turn usage": (turn(usage=Usage(10)) + turn(), turn(usage=Usage(11)) + turn()),
    "plan progress": (turn(plan(status="completed")), turn(plan(status="pending"))),
    "shown inputs": (turn(*use("Bash", {"command": "a"})), turn(*use("Bash", {"command": "b"}))),
    "refused calls": (turn(DONE), turn(*use(), DONE)),
    "order": (turn(Text(text="a"), Text(text="b")), turn(Text(text="b"), Text(text="a"))),
    "lost texts": (turn(DONE), turn(Text(text="Looking."), DONE)),
    "late results": (turn(*use(output="a")), turn(*use(output="b"))),
    "mcp errors": (turn(*use(is_error=True)), turn(*use())),
    "edit paths": (turn(*edit(path="/w/a.txt")), turn(*edit(path="/w/b.txt"))),
    "edit diffs": (turn(*edit(kind="add")), turn(*edit(kind="update"))),
    "command beginnings": (turn(*use(output="end")), turn(*use(output="the end!"))),
    "long outputs": (turn(*use(output="a")), turn(*use(output="b"))),
    "lookalike prompts": (turn(ASKED), turn()),
    "tail": (turn(DONE), turn(Text(text="Else."), outcome="interrupted")),
    "review work": (turn(*use(), DONE), turn(DONE)),
    "scripts": (turn(*use(), DONE), turn(DONE)),
    "strange steps": (turn(Text(text="more"), DONE), turn(DONE)),
}


@pytest.mark.parametrize(("aspect", "streams"), STILL_SEEN.items(), ids=STILL_SEEN)
def test_a_limit_does_not_hide_what_it_does_not_name(
    aspect: str, streams: tuple[list[Turn], list[Turn]]
) -> None:
    one, other = streams

    assert differences(one, other, [limit(aspect)]) != []


def test_every_aspect_that_a_harness_names_is_shown_here() -> None:
    assert {each.aspect for each in all_limits()} == {*HIDDEN, "calls"}


def test_limits_of_other_things_hide_nothing() -> None:
    others = [limit("plan explanation"), limit("edit diffs"), limit("mcp errors")]

    assert differences(turn(ASKED, DONE), turn(ASKED), others) != []
    assert differences(turn(ASKED, DONE), turn(DONE), others) != []


def test_a_denial_that_the_file_ends_before_is_no_difference() -> None:
    asked, denied = use(output="", is_error=True, status="declined")
    live = turn(ASKED, asked, denied, outcome="interrupted")
    file = fold([TurnStarted(turn_id="t"), ASKED, asked])

    assert differences(live, file) == []
    assert differences(turn(ASKED, asked, denied), file)
    assert differences(turn(ASKED, *use(), outcome="interrupted"), file)
