"""Fold a stream of messages into turns: prompts, steps in order, plan, outcome, tokens.

This is the conversation as a reader sees it. The live stream of a run and the file it leaves fold to the
same turns.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from dragoman.model.messages import (
    Message,
    Notice,
    Plan,
    Prompt,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
)


@dataclass(slots=True)
class Use:
    """A tool call and its result."""

    call: ToolCall
    result: ToolResult | None = None
    """The latest result: a late one replaces the result that ended the call without it."""


Step: TypeAlias = Text | Thinking | Use


@dataclass(slots=True)
class Turn:
    """One turn of one session."""

    session_id: str | None
    turn_id: str | None
    prompts: list[Prompt] = field(default_factory=list[Prompt])
    steps: list[Step] = field(default_factory=list[Step])
    plans: list[Plan] = field(default_factory=list[Plan])
    notices: list[Notice] = field(default_factory=list[Notice])
    ended: TurnEnded | None = None

    @property
    def uses(self) -> list[Use]:
        return [step for step in self.steps if isinstance(step, Use)]


def fold(messages: Iterable[Message]) -> list[Turn]:
    """The turns of all sessions, in the order they started."""
    turns: list[Turn] = []
    current: dict[str | None, Turn] = {}
    by_id: dict[tuple[str | None, str | None], Turn] = {}
    uses: dict[tuple[str | None, str], Use] = {}

    def turn_of(message: Message) -> Turn:
        """The turn that the message names, so that a late message finds its place; else the newest."""
        turn = by_id.get((message.session_id, message.turn_id)) or current.get(message.session_id)
        return turn or begin(message)

    def begin(message: Message) -> Turn:
        turn = Turn(message.session_id, message.turn_id)
        current[message.session_id] = by_id[message.session_id, message.turn_id] = turn
        turns.append(turn)
        return turn

    for message in messages:
        match message:
            case TurnStarted():
                begin(message)
            case Prompt():
                turn_of(message).prompts.append(message)
            case Text() | Thinking():
                turn_of(message).steps.append(message)
            case ToolCall():
                use = uses[message.session_id, message.call_id] = Use(message)
                turn_of(message).steps.append(use)
            case ToolResult():
                use = uses.get((message.session_id, message.call_id))
                if use is not None:
                    use.result = message
            case Plan():
                turn_of(message).plans.append(message)
            case Notice() if message.turn_id is not None:
                turn_of(message).notices.append(message)
            case TurnEnded():
                turn_of(message).ended = message
            case _:
                continue
    return turns
