"""Prepare the steps of two turns for comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from dragoman.model.messages import Text
from dragoman.model.tools import SEND_MESSAGE, TASK, TASK_OUTPUT, TASK_STOP
from dragoman.model.turns import Use

_AGENTS: Final = (TASK, TASK_OUTPUT, TASK_STOP, SEND_MESSAGE)
_AGENT_MESSAGE_TOOLS: Final = ("collaboration.", "send_message", "followup_task", "list_agents")


@dataclass(slots=True)
class Thought:
    """Reasoning, reported at once or in parts."""

    parts: list[str]


Step: TypeAlias = Text | Thought | Use


def outline(step: Step) -> tuple[Literal["text", "thinking", "use"], str]:
    if isinstance(step, Use):
        return "use", step.call.tool
    if isinstance(step, Thought):
        return "thinking", "\n".join(step.parts)
    return "text", step.text


def without_uses(steps: list[Step]) -> list[Step]:
    return [step for step in steps if not isinstance(step, Use)]


def ordered(steps: list[Step]) -> list[Step]:
    """Sort into thoughts, texts and uses. Texts keep their order, thoughts are joined, uses are sorted by content."""
    thoughts = [step for step in steps if isinstance(step, Thought)]
    uses: list[Use] = [step for step in steps if isinstance(step, Use)]
    joined = [Thought([part for thought in thoughts for part in thought.parts])] if thoughts else []
    texts = [step for step in steps if isinstance(step, Text)]
    uses.sort(key=lambda use: (use.call.tool, str(use.call.input)))
    return [*joined, *texts, *uses]


def is_agent_message(use: Use) -> bool:
    return use.call.native_tool.startswith(_AGENT_MESSAGE_TOOLS)


def without_agents(steps: list[Step]) -> list[Step]:
    return [
        step
        for step in steps
        if not (isinstance(step, Use) and (step.call.tool in _AGENTS or is_agent_message(step)))
    ]


def only_steps_of(others: list[Step], steps: list[Step]) -> list[Step]:
    """Return the steps that the other side has as well."""
    known = {outline(step) for step in others}
    return [step for step in steps if outline(step) in known]


def only_texts_of(disk: list[Step], live: list[Step]) -> list[Step]:
    """Return the live steps without the texts that are missing in the file."""
    known = Counter(outline(step) for step in disk if isinstance(step, Text))
    kept: list[Step] = []
    for step in live:
        if isinstance(step, Text):
            if not known[outline(step)]:
                continue
            known[outline(step)] -= 1
        kept.append(step)
    return kept


def without_refused(steps: list[Step], others: Iterable[Step]) -> list[Step]:
    """Return the steps without failed calls that the other side does not have."""
    surplus = Counter(outline(step) for step in steps)
    surplus.subtract(outline(step) for step in others)
    kept: list[Step] = []
    for step in steps:
        drawn = outline(step)
        failed = isinstance(step, Use) and step.result is not None and step.result.is_error
        if failed and surplus[drawn] > 0:
            surplus[drawn] -= 1
        else:
            kept.append(step)
    return kept


def without_raw(one: list[Step], other: list[Step]) -> None:
    """Drop parts of thoughts, the raw chain, that the other side does not have."""
    texts = [
        "\n".join(outline(step)[1] for step in steps if isinstance(step, Thought))
        for steps in (other, one)
    ]
    for steps, known in zip((one, other), texts, strict=True):
        for step in steps:
            if isinstance(step, Thought):
                step.parts = [part for part in step.parts if part in known]
