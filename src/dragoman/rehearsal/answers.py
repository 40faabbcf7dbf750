"""From a request and the script to what the server must do, step by step.

This is the stand-in model itself: it decides what to say, a wire says how, and the server carries it out.
No I/O and no clock here, so that every fault can be tested without a socket.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from dragoman.rehearsal.actions import Action, HangUp
from dragoman.rehearsal.faults import Attempt
from dragoman.rehearsal.places import ScriptPlace
from dragoman.rehearsal.requests import HttpRequest
from dragoman.rehearsal.script import Drop, Http, Say, Script, Step, responses
from dragoman.rehearsal.wires import RequestHistory, StepTools, Wire


class ModelRequest(HttpRequest, frozen=True):
    """A request for a response, and the place in the script that answered it."""

    place: ScriptPlace
    history: RequestHistory

    @property
    def conversation(self) -> str:
        """Whatever the request says about the conversation that it belongs to."""
        return self.history.conversation

    @property
    def items(self) -> list[dict[str, object]]:
        """The history that the request carries: prompts, context, calls and their outputs."""
        return self.history.items

    @property
    def outputs(self) -> list[str]:
        """What the agent's tools returned so far, oldest first."""
        return self.history.outputs


class StandInModel:
    """Answers requests from a script. Remembers nothing but how often a fault was met.

    ``first`` is the number of the first answer: agents and ledgers take ids for unique, also those of two models.
    """

    def __init__(self, script: Script, *, first: int = 1) -> None:
        self.script = script
        self._attempts: dict[tuple[object, ...], int] = {}
        self._numbers = itertools.count(first)

    def auxiliary(self, wire: Wire, request: HttpRequest) -> Iterable[Action] | None:
        """What to do about a request that is not part of a conversation; None if it is."""
        return wire.auxiliary(request, next(self._numbers))

    def ask(self, wire: Wire, request: HttpRequest) -> ModelRequest:
        """The request with its place in the script."""
        history = wire.history(request)
        place = wire.place(self.script, request, history)
        about = (request.number, request.method, request.path, request.headers, request.raw)
        return ModelRequest(*about, place, history)

    def answer(self, wire: Wire, asked: ModelRequest) -> Iterable[Action]:
        """What to do about a request for a response."""
        tools = wire.tools(asked, asked.place)
        steps, following = self._steps(wire, asked.place, tools)
        steps = self._attempt(asked).of(steps)
        refusal = next((step for step in steps if isinstance(step, Http)), None)
        if refusal is not None:
            return (wire.error(refusal),)
        if any(isinstance(step, Drop) and step.unanswered for step in steps):
            return (HangUp(),)
        played = list(self._played(wire, tools, asked.place, steps, following))
        return wire.stream(asked, asked.history, next(self._numbers), played)

    def _steps(self, wire: Wire, place: ScriptPlace, tools: StepTools) -> tuple[list[Step], int]:
        """The steps of this response, and the number of the one that comes after it."""
        if place.purpose == "summary":
            words = f"What was done so far is known. {place.mark}"
            return [Say(wire.summary(words))], place.response
        if place.turn is None:
            return [Say(self.script.otherwise)], 0
        parts = responses(self.script.turns[place.turn], wire.calling)
        steps: list[Step] = []
        following = place.response
        # A response without a call would end the turn, so the next one is said along with it.
        while following < len(parts) and not any(
            isinstance(step, wire.calling) and tools.calls(step) for step in steps
        ):
            steps += parts[following]
            following += 1
        return steps or [Say(self.script.otherwise)], following

    def _attempt(self, asked: ModelRequest) -> Attempt:
        place = asked.place
        key = (asked.conversation, place.turn, place.response, place.prompts, place.prompt)
        key = (*key, place.prepared)  # after what prepares it, the response is asked for again
        number = self._attempts.get(key, 0)
        self._attempts[key] = number + 1
        return Attempt(number)

    def _played(
        self, wire: Wire, tools: StepTools, place: ScriptPlace, steps: list[Step], following: int
    ) -> Iterator[tuple[Step, dict[str, object] | None]]:
        """Each step with the items it makes; or only what prepares them, if anything must."""
        needed = [
            (step, tools.calls(step) if isinstance(step, wire.calling) else None) for step in steps
        ]
        first = [(step, item) for step, calls in needed if calls for item in calls.before]
        for step, item in first:
            yield step, wire.call(item, place, place.response, next(self._numbers))
        if first:
            return
        for step, calls in needed:
            if calls is None:
                yield step, wire.item(step, next(self._numbers))
                continue
            for item in calls.calls:
                yield step, wire.call(item, place, following, next(self._numbers))
