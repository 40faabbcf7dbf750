"""Compare two streams of the same conversation: the rule behind "live equals disk".

Both are folded into turns and compared: prompts, texts, thinking, tool calls with their inputs,
results with errors and exit codes, plans, outcome, the turn's tokens. Ids, times and durations are
not compared. What one of the two cannot carry is named by a :class:`Limit` and left out; a limit
that is not needed is a mistake, which the tests detect.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from dragoman.harnesses.contract.reading import Limit
from dragoman.model.messages import Plan, Text, Thinking
from dragoman.model.tools import BASH, EDIT, TASK, WRITE
from dragoman.model.turns import Turn, Use
from dragoman.model.usage import Usage
from dragoman.testing.steps import (
    Step,
    Thought,
    is_agent_message,
    only_steps_of,
    only_texts_of,
    ordered,
    outline,
    without_agents,
    without_raw,
    without_refused,
    without_uses,
)

_EDITS = (EDIT, WRITE)
_TRUNCATED = re.compile(
    r"tokens truncated|chars truncated|truncated for persistence|truncated output"
    r"|omitted \d+ of \d+ lines|output truncated to fit"
    r"|Output too long and was saved|truncated for Headless transport"
)
_LOOKS_INJECTED = re.compile(r"\s*(<|# AGENTS\.md)")


@dataclass(slots=True)
class Difference:
    """One difference between two streams."""

    turn: int
    what: str
    one: Any
    other: Any

    def __str__(self) -> str:
        return f"turn {self.turn}, {self.what}: {self.one!r} against {self.other!r}"


def differences(
    one: Sequence[Turn], other: Sequence[Turn], limits: Collection[Limit] = ()
) -> list[Difference]:
    """Return the differences beyond the limits."""
    return _Comparison(limits).run(list(one), list(other))


class _Comparison:
    def __init__(self, limits: Collection[Limit]) -> None:
        self._aspects = {limit.aspect for limit in limits}
        if "agent usage" in self._aspects:
            self._aspects.add("usage")
        self._tools = tuple({tool for limit in limits for tool in limit.tools})
        self._found: list[Difference] = []
        self._turn = 0

    def run(self, one: list[Turn], other: list[Turn]) -> list[Difference]:
        one, other = _copied(one), _copied(other)
        if "promptless turns" in self._aspects and "prompts" not in self._aspects:
            one, other = _merged(one), _merged(other)
        if "command turns" in self._aspects:
            one, other = _without_commands(one), _without_commands(other)
        if "lookalike prompts" in self._aspects and any(
            _LOOKS_INJECTED.match(prompt.text) for turn in (*one, *other) for prompt in turn.prompts
        ):
            return []
        if "tail" in self._aspects and one and len(one) == len(other):
            _cut(one[-1], other[-1])
        if len(one) != len(other):
            return [Difference(0, "number of turns", len(one), len(other))]
        if one:
            _left_open(one[-1], other[-1])
            if "failed ends" in self._aspects:
                _fail_unwritten(one[-1], other[-1])
        if "turn usage" in self._aspects and "usage" not in self._aspects and len(one) > 1:
            self._say(
                "tokens of all turns", *[self._counted(_spent(turns)) for turns in (one, other)]
            )
            self._aspects.add("usage")
        for self._turn, (left, right) in enumerate(zip(one, other, strict=True), 1):
            self._compare(left, right)
        return self._found

    def _say(self, what: str, one: Any, other: Any) -> None:
        if one != other:
            self._found.append(Difference(self._turn, what, one, other))

    def _compare(self, one: Turn, other: Turn) -> None:
        if "prompts" not in self._aspects:
            self._say("prompts", _prompts(one), _prompts(other))
            self._say("images", _images(one), _images(other))
        self._compare_outcome(one, other)
        self._compare_plans(one, other)
        left, right = self._steps(one), self._steps(other)
        if "refused calls" in self._aspects:
            left, right = without_refused(left, right), without_refused(right, left)
        if "raw thinking" in self._aspects:
            without_raw(left, right)
        if "lost texts" in self._aspects:
            left = only_texts_of(right, left)
        if "review work" in self._aspects and _is_review(other):
            left, right = without_uses(left), without_uses(right)
        if "letters" in self._aspects and any(map(is_agent_message, other.uses)):
            left, right = without_agents(left), without_agents(right)
        if "strange steps" in self._aspects and any(use.call.tool == TASK for use in one.uses):
            left = only_steps_of(right, left)
        if "agent steps" in self._aspects:
            left, right = only_steps_of(right, left), only_steps_of(left, right)
        if "scripts" in self._aspects and any(use.call.tool == "exec" for use in other.uses):
            left, right = without_uses(left), without_uses(right)
        outlines = [[outline(step) for step in steps] for steps in (left, right)]
        inputs = [[self._input(s) for s in steps if isinstance(s, Use)] for steps in (left, right)]
        if "order" in self._aspects and (outlines, inputs) != (outlines[::-1], inputs[::-1]):
            left, right = ordered(left), ordered(right)
            outlines = [[outline(step) for step in steps] for steps in (left, right)]
        self._say("steps", *outlines)
        if outlines[0] != outlines[1]:
            return
        for a, b in zip(left, right, strict=True):
            if isinstance(a, Use) and isinstance(b, Use):
                self._compare_use(a, b)

    def _compare_outcome(self, one: Turn, other: Turn) -> None:
        ends = [turn.ended for turn in (one, other)]
        outcomes = [end.outcome if end else None for end in ends]
        failures_hidden = "failures" in self._aspects and "failed" in outcomes
        if "outcome" not in self._aspects and not failures_hidden:
            self._say("outcome", *outcomes)
            errors = [
                (end.error.kind, end.error.retryable) if end and end.error else None for end in ends
            ]
            self._say("error", *errors)
        if "usage" not in self._aspects:
            usages = [end.usage if end else None for end in ends]
            if "unfinished usage" in self._aspects and outcomes != ["completed", "completed"]:
                return
            self._say("usage", *map(self._counted, usages))

    def _counted(self, usage: Usage | None) -> Usage | None:
        if usage is None or "reasoning tokens" not in self._aspects:
            return usage
        return msgspec.structs.replace(usage, reasoning_output_tokens=0)

    def _compare_plans(self, one: Turn, other: Turn) -> None:
        if "plans" in self._aspects:
            return
        if "scripted plans" in self._aspects and (_scripts_plan(one) or _scripts_plan(other)):
            return
        self._say("plans", *[[self._plan(plan) for plan in turn.plans] for turn in (one, other)])

    def _plan(self, plan: Plan) -> Any:
        coarse = "plan progress" in self._aspects
        steps = [
            (step.text, step.status == "completed" if coarse else step.status)
            for step in plan.steps
        ]
        return steps if "plan explanation" in self._aspects else (steps, plan.explanation)

    def _steps(self, turn: Turn) -> list[Step]:
        """Return texts, joined thoughts and uses, without the calls that one side does not carry."""
        steps: list[Step] = []
        for step in turn.steps:
            if isinstance(step, Use):
                if not step.call.tool.startswith(self._tools):
                    steps.append(step)
            elif isinstance(step, Thinking):
                if "thinking" in self._aspects:
                    continue
                if steps and isinstance(steps[-1], Thought):
                    steps[-1].parts.append(step.text)
                else:
                    steps.append(Thought([step.text]))
            else:
                steps.append(step)
        return steps

    def _compare_use(self, one: Use, other: Use) -> None:
        tool = one.call.tool
        is_mcp, is_edit = tool.startswith("mcp__"), tool in _EDITS
        if not (is_mcp and "mcp inputs" in self._aspects):
            self._say(f"input of {tool}", self._input(one), self._input(other))
        results = [one.result, other.result]
        if None in results:
            self._say(f"result of {tool}", *results)
            return
        left, right = results
        assert left is not None
        assert right is not None
        unspoken = {left.status, right.status} & {"declined", "abandoned"}
        if "late results" in self._aspects and "abandoned" in unspoken:
            return
        is_dynamic = not is_mcp and not tool[:1].isupper()
        hidden = (is_mcp and "mcp errors" in self._aspects) or (
            is_dynamic and "dynamic errors" in self._aspects
        )
        if tool != BASH or "command errors" not in self._aspects:
            if not hidden:
                self._say(f"error of {tool}", left.is_error, right.is_error)
            self._say(f"exit code of {tool}", left.exit_code, right.exit_code)
        if not unspoken and not self._output_hidden(tool, is_mcp, is_edit):
            outputs = [left.output, right.output]
            if "long outputs" in self._aspects and any(map(_TRUNCATED.search, outputs)):
                return
            if "command beginnings" in self._aspects and right.output.endswith(left.output):
                return
            self._say(f"output of {tool}", *outputs)

    def _output_hidden(self, tool: str, is_mcp: bool, is_edit: bool) -> bool:
        return (
            (is_mcp and "mcp outputs" in self._aspects)
            or (is_edit and "edit outputs" in self._aspects)
            or (tool == BASH and "command outputs" in self._aspects)
            or (tool != BASH and "shown outputs" in self._aspects)
        )

    def _input(self, use: Use) -> Any:
        if "shown inputs" in self._aspects:
            return use.call.input.get("command") if use.call.tool == BASH else None
        if use.call.tool not in _EDITS:
            return use.call.input
        changes = use.call.input.get("changes", [])
        hidden = {"diff"} if "edit diffs" in self._aspects else set[str]()
        if "edit moves" in self._aspects:
            hidden.add("move_path")
        shown = [{k: v for k, v in change.items() if k not in hidden} for change in changes]
        if "edit paths" in self._aspects:
            shown = [{**change, "path": str(change["path"]).rsplit("/", 1)[-1]} for change in shown]
            for change in shown:
                change.pop("move_path", None)
        return shown


def _copied(turns: list[Turn]) -> list[Turn]:
    """Return copies that may be modified."""
    return [replace(turn, steps=list(turn.steps)) for turn in turns]


def _spent(turns: list[Turn]) -> Usage:
    return sum((turn.ended.usage for turn in turns if turn.ended and turn.ended.usage), Usage())


def _merged(turns: list[Turn]) -> list[Turn]:
    """Return the turns with a prompt; the tokens of the others are added to the turn before."""
    kept: list[Turn] = []
    for turn in turns:
        before = kept[-1].ended if kept else None
        if turn.prompts or before is None:
            kept.append(turn)
        elif turn.ended and turn.ended.usage:
            usage = turn.ended.usage + (before.usage or Usage())
            kept[-1].ended = msgspec.structs.replace(before, usage=usage)
    return kept


def _without_commands(turns: list[Turn]) -> list[Turn]:
    """Return the turns without those in which the program itself has carried out a command such as ``/stats``."""
    return [turn for turn in turns if not _is_command(turn)]


def _is_command(turn: Turn) -> bool:
    is_answered = turn.ended is None or turn.ended.usage is not None or any(turn.uses)
    return not is_answered and any(prompt.text.startswith("/") for prompt in turn.prompts)


def _cut(one: Turn, other: Turn) -> None:
    """Shorten the last turn to what both sides have, if the other one ends early."""
    is_cut = other.ended is None or other.ended.outcome == "interrupted"
    if is_cut and len(other.steps) < len(one.steps):
        one.steps = one.steps[: len(other.steps)]
        one.ended = other.ended


def _left_open(one: Turn, other: Turn) -> None:
    """Ignore the end of the last turn if only the stream has one: a stream ends with its process, a
    file left in the middle of a turn does not.
    """
    if {turn.ended.outcome if turn.ended else None for turn in (one, other)} == {
        None,
        "interrupted",
    }:
        lone = {
            use.call.call_id for turn in (one, other) for use in turn.uses if use.result is None
        }
        for turn in (one, other):
            turn.ended = None
            turn.steps = [_unanswered(step, lone) for step in turn.steps]


def _fail_unwritten(one: Turn, other: Turn) -> None:
    """Do not compare the end of a last turn that failed live and has no end on disk."""
    if one.ended and one.ended.outcome == "failed" and other.ended is None:
        one.ended = None


def _unanswered(step: Text | Thinking | Use, lone: set[str]) -> Text | Thinking | Use:
    """Return the step without a result that only the end of the stream gave it.

    This includes a denial sent as the last line: the file ends before the agent repeats it.
    """
    if not isinstance(step, Use) or step.result is None:
        return step
    status = step.result.status
    is_given = status == "abandoned" or (status == "declined" and step.call.call_id in lone)
    return Use(step.call) if is_given else step


def _is_review(turn: Turn) -> bool:
    return any(notice.text.startswith("review") for notice in turn.notices)


def _scripts_plan(turn: Turn) -> bool:
    return any("update_plan" in str(use.call.input.get("script")) for use in turn.uses)


def _prompts(turn: Turn) -> list[str]:
    return [prompt.text for prompt in turn.prompts]


def _images(turn: Turn) -> list[list[str]]:
    return [sorted(prompt.images) for prompt in turn.prompts]
