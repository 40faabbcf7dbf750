"""Do two streams tell the same conversation? The rule behind "live equals disk".

Both are folded into turns and compared: prompts, texts, thinking, tool calls with their inputs,
results with errors and exit codes, plans, outcome, the turn's tokens. Ids, times and durations are
not part of a conversation. What one of the two cannot carry is named by a :class:`Limit` and left
out of the comparison; a limit that is not needed is a mistake, and the tests say so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import msgspec

from dragoman.harnesses.base import Limit
from dragoman.model.messages import Plan, Text, Thinking
from dragoman.model.tools import EDIT, WRITE
from dragoman.model.turns import Turn, Use
from dragoman.model.usage import Usage

_EDITS = (EDIT, WRITE)


@dataclass(slots=True)
class Difference:
    """One thing that the two streams tell differently."""

    turn: int
    what: str
    one: Any
    other: Any

    def __str__(self) -> str:
        return f"turn {self.turn}, {self.what}: {self.one!r} against {self.other!r}"


def differences(
    one: Sequence[Turn], other: Sequence[Turn], limits: Collection[Limit] = ()
) -> list[Difference]:
    """What the two tell differently, beyond the limits."""
    return _Comparison(limits).run(list(one), list(other))


class _Comparison:
    def __init__(self, limits: Collection[Limit]) -> None:
        self._aspects = {limit.aspect for limit in limits}
        self._tools = tuple({tool for limit in limits for tool in limit.tools})
        self._found: list[Difference] = []
        self._turn = 0

    def run(self, one: list[Turn], other: list[Turn]) -> list[Difference]:
        if "promptless turns" in self._aspects and "prompts" not in self._aspects:
            one, other = _merged(one), _merged(other)
        if "tail" in self._aspects and one and len(one) == len(other):
            _cut(one[-1], other[-1])
        if len(one) != len(other):
            return [Difference(0, "number of turns", len(one), len(other))]
        for self._turn, (left, right) in enumerate(zip(one, other, strict=True), 1):
            self._compare(left, right)
        return self._found

    def _say(self, what: str, one: Any, other: Any) -> None:
        if one != other:
            self._found.append(Difference(self._turn, what, one, other))

    def _compare(self, one: Turn, other: Turn) -> None:
        if "prompts" not in self._aspects:
            self._say("prompts", _prompts(one), _prompts(other))
            if "images" not in self._aspects:
                self._say("images", _images(one), _images(other))
        self._compare_outcome(one, other)
        self._compare_plans(one, other)
        if "steps" in self._aspects:
            return
        left, right = self._steps(one), self._steps(other)
        if "refused calls" in self._aspects:
            left, right = _without_refused(left, right), _without_refused(right, left)
        if "raw thinking" in self._aspects:
            _without_raw(left, right)
        self._say("steps", [_outline(step) for step in left], [_outline(step) for step in right])
        if self._found:
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
            errors = [(end.error.kind, end.error.retryable) if end and end.error else None for end in ends]
            self._say("error", *errors)
        if "usage" not in self._aspects:
            usages = [end.usage if end else None for end in ends]
            if "reasoning tokens" in self._aspects:
                self._say("usage", *[(u.input_tokens, u.cached_input_tokens, u.output_tokens) if u else None for u in usages])
            else:
                self._say("usage", *usages)

    def _compare_plans(self, one: Turn, other: Turn) -> None:
        if "scripted plans" in self._aspects and (_scripts_plan(one) or _scripts_plan(other)):
            return
        if "plans" not in self._aspects:
            self._say("plans", *[[self._plan(plan) for plan in turn.plans] for turn in (one, other)])

    def _plan(self, plan: Plan) -> Any:
        coarse = "plan progress" in self._aspects
        steps = [(step.text, step.status == "completed" if coarse else step.status) for step in plan.steps]
        return steps if "plan explanation" in self._aspects else (steps, plan.explanation)

    def _steps(self, turn: Turn) -> list[_Step]:
        """Texts, thoughts joined, and uses; without the calls that one side does not carry."""
        steps: list[_Step] = []
        for step in turn.steps:
            if isinstance(step, Use):
                if not step.call.tool.startswith(self._tools):
                    steps.append(step)
            elif isinstance(step, Thinking):
                if "thinking" in self._aspects:
                    continue
                if steps and isinstance(steps[-1], _Thought):
                    steps[-1].parts.append(step.text)
                else:
                    steps.append(_Thought([step.text]))
            elif "texts" not in self._aspects:
                steps.append(step)
        return steps

    def _compare_use(self, one: Use, other: Use) -> None:
        tool = one.call.tool
        is_mcp, is_edit = tool.startswith("mcp__"), tool in _EDITS
        if not (is_mcp and "mcp inputs" in self._aspects):
            self._say(f"input of {tool}", *[self._input(use, is_edit) for use in (one, other)])
        results = [one.result, other.result]
        if None in results:
            self._say(f"result of {tool}", *results)
            return
        left, right = results
        assert left is not None and right is not None
        if not (is_mcp and "mcp errors" in self._aspects):
            self._say(f"error of {tool}", left.is_error, right.is_error)
        self._say(f"exit code of {tool}", left.exit_code, right.exit_code)
        unspoken = {left.status, right.status} & {"declined", "abandoned"}
        if not unspoken and not self._output_hidden(tool, is_mcp, is_edit, left.is_error):
            self._say(f"output of {tool}", left.output, right.output)

    def _output_hidden(self, tool: str, is_mcp: bool, is_edit: bool, is_error: bool) -> bool:
        return (
            (is_mcp and "mcp outputs" in self._aspects)
            or (is_edit and "edit outputs" in self._aspects)
            or (tool == "Bash" and "command outputs" in self._aspects)
            or (is_error and "error outputs" in self._aspects)
        )

    def _input(self, use: Use, is_edit: bool) -> Any:
        if not is_edit:
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


@dataclass(slots=True)
class _Thought:
    parts: list[str]


_Step: TypeAlias = Text | _Thought | Use


def _outline(step: _Step) -> tuple[Literal["text", "thinking", "use"], str]:
    if isinstance(step, Use):
        return "use", step.call.tool
    if isinstance(step, _Thought):
        return "thinking", "\n".join(step.parts)
    return "text", step.text


def _merged(turns: list[Turn]) -> list[Turn]:
    """The turns that have a prompt; what the others spent is added to the turn before."""
    kept: list[Turn] = []
    for turn in turns:
        before = kept[-1].ended if kept else None
        if turn.prompts or before is None:
            kept.append(turn)
        elif turn.ended and turn.ended.usage:
            usage = turn.ended.usage + (before.usage or Usage())
            kept[-1].ended = msgspec.structs.replace(before, usage=usage)
    return kept


def _cut(one: Turn, other: Turn) -> None:
    """Cut the last turn to what both sides have, where the other one ends early."""
    if other.ended and other.ended.outcome == "interrupted" and len(other.steps) < len(one.steps):
        one.steps = one.steps[: len(other.steps)]
        one.ended = other.ended


def _scripts_plan(turn: Turn) -> bool:
    return any("update_plan" in str(use.call.input.get("script")) for use in turn.uses)


def _prompts(turn: Turn) -> list[str]:
    return [prompt.text for prompt in turn.prompts]


def _images(turn: Turn) -> list[list[str]]:
    return [prompt.images for prompt in turn.prompts]


def _without_refused(steps: list[_Step], others: Iterable[_Step]) -> list[_Step]:
    """The steps without the failed calls that the other side does not know of."""
    surplus = Counter(_outline(step) for step in steps)
    surplus.subtract(_outline(step) for step in others)
    kept: list[_Step] = []
    for step in steps:
        outline = _outline(step)
        failed = isinstance(step, Use) and step.result is not None and step.result.is_error
        if failed and surplus[outline] > 0:
            surplus[outline] -= 1
        else:
            kept.append(step)
    return kept


def _without_raw(one: list[_Step], other: list[_Step]) -> None:
    """Cut thoughts to what both sides have, where one goes on with the raw chain."""
    for left, right in zip(one, other, strict=False):
        if isinstance(left, _Thought) and isinstance(right, _Thought):
            a, b = _outline(left)[1], _outline(right)[1]
            if a.startswith(b) or b.startswith(a):
                left.parts = right.parts = [min(a, b, key=len)]
