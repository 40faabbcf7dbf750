"""Which prompt is where, and which turn the agent is at.

Some agents report on a prompt by the uuid that we gave it (``command_lifecycle``), and a ``result`` names the
prompts that it answers. Others take a prompt up at once when they are idle; when they are not, it joins the
running turn after the next tool result, or becomes the next turn.

| state | meaning |
|---|---|
| sent | written, not acknowledged |
| queued | received while a turn runs: it joins that turn after the next tool result, or becomes the next one |
| started | part of a turn |
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from dragoman.model.messages import Outcome

PromptState: TypeAlias = Literal["sent", "queued", "started"]
_KEPT: Final = 64


@dataclass(slots=True)
class SentPrompt:
    """A prompt of ours that is not answered yet."""

    uuid: str
    ticket: int | None
    """The intent that waits for it to be taken up."""
    joins: str | None
    """The turn of ours that was running when it was sent."""
    state: PromptState = "sent"


class PromptedTurns:
    """The turns of one session, as the agent goes through them.

    ``joins``: a prompt for an agent at work joins the running turn.
    """

    def __init__(self, *, joins: bool = True) -> None:
        self._joins = joins
        self.open: str | None = None
        """The turn whose messages come at the moment."""
        self.native: str | None = None
        """The turn that the agent is at, be it that we have ended it already."""
        self.reports = False
        """Whether this release reports on prompts."""
        self._is_ours = False
        """Whether the open turn is for a prompt of ours: an agent also begins turns by itself, to report on a task."""
        self._prompts: dict[str, SentPrompt] = {}
        self._outcomes: dict[str, Outcome] = {}

    # Prompts.

    def sent(self, uuid: str, ticket: int | None) -> SentPrompt:
        prompt = SentPrompt(uuid, ticket, self.open if self._is_ours and self._joins else None)
        self._prompts[uuid] = prompt
        return prompt

    def find(self, uuid: str) -> SentPrompt | None:
        return self._prompts.get(uuid)

    def forget(self, uuid: str) -> SentPrompt | None:
        return self._prompts.pop(uuid, None)

    def waiting(self) -> list[SentPrompt]:
        """The prompts that are in no turn yet, in order."""
        return [each for each in self._prompts.values() if each.state != "started"]

    def take_all(self) -> list[SentPrompt]:
        """All prompts, which nothing will become of any more."""
        prompts, self._prompts = list(self._prompts.values()), {}
        return prompts

    # Turns.

    def begin(self, turn_id: str) -> None:
        """A turn begins. It has the id of the prompt that it is for, if it is for one of ours."""
        self.open = self.native = turn_id
        self._is_ours = turn_id in self._prompts
        if (prompt := self._prompts.get(turn_id)) is not None:
            prompt.state, prompt.joins = "started", None

    def end(self, turn_id: str, outcome: Outcome) -> None:
        """The turn's end was emitted."""
        self._outcomes.pop(turn_id, None)
        self._outcomes[turn_id] = outcome
        if len(self._outcomes) > _KEPT:
            del self._outcomes[next(iter(self._outcomes))]
        if self.open == turn_id:
            self.open = None

    def result(self, uuids: Iterable[str]) -> list[SentPrompt]:
        """The agent has come to the end of a turn, which answers these prompts; return those of ours."""
        self.native = None
        named = [uuid for uuid in uuids if uuid in self._prompts]
        if not named and not self.reports:
            named = [each.uuid for each in self._prompts.values() if each.state == "started"]
        answered = [self._prompts.pop(uuid) for uuid in dict.fromkeys(named)]
        for prompt in self._prompts.values():
            prompt.joins = None  # it was not accepted, and becomes a turn of its own
        return answered

    @property
    def is_given_up(self) -> bool:
        """Whether the agent is still at a turn that we have ended."""
        return self.native is not None and self.open is None

    def is_over(self, turn_id: str) -> bool:
        """Whether the agent itself is done with this turn."""
        return turn_id in self._outcomes and turn_id != self.native

    def outcome(self, turn_id: str | None) -> Outcome | None:
        """What a turn, or the last one, came to; None while it runs or if it is not known."""
        if turn_id is not None:
            return self._outcomes.get(turn_id)
        return next(reversed(self._outcomes.values()), None) if self.open is None else None
