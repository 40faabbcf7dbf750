"""From a request and the script to what the server must do, step by step.

This is the stand-in model itself: it decides, and the server carries out. An answer is a stream of
actions: an HTTP head, bytes to send, a wait, the loss of the connection. No I/O and no clock here,
so that every fault can be tested without a socket.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import msgspec

from dragoman.rehearsal.events import EventStream
from dragoman.rehearsal.faults import Attempt, http_error
from dragoman.rehearsal.items import call_item, item_of, message
from dragoman.rehearsal.places import Place, find_place
from dragoman.rehearsal.requests import Request
from dragoman.rehearsal.script import (
    Call,
    Drop,
    Fail,
    Fault,
    Garbage,
    Headers,
    Http,
    Incomplete,
    Pause,
    Say,
    Script,
    Silence,
    Slow,
    Step,
    Tokens,
    responses,
)
from dragoman.rehearsal.tools import Tools

_SSE = {"content-type": "text/event-stream", "cache-control": "no-cache"}


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of an HTTP response; with a body, it is the whole of it."""

    status: int
    headers: dict[str, str] = field(default_factory=dict[str, str])
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """Do nothing for a while; None is until the agent hangs up."""

    seconds: float | None


@dataclass(frozen=True, slots=True)
class HangUp:
    """Close the connection as if it were lost."""


Action: TypeAlias = Head | bytes | Wait | HangUp
_Items: TypeAlias = list[tuple[Step, dict[str, Any] | None]]


class Model:
    """Answers requests from a script. Remembers nothing but how often a fault was met."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self._attempts: dict[tuple[object, ...], int] = {}
        self._numbers = itertools.count(1)

    def place(self, request: Request) -> Place:
        """Where the request stands in the script."""
        return find_place(self.script, request)

    def answer(self, request: Request, place: Place) -> Iterator[Action]:
        """What to do about a request for a response."""
        tools = Tools(request.body, searched=place.searched)
        steps, following = self._steps(place, tools)
        attempt = self._attempt(request, place)
        steps = attempt.of(steps)
        refusal = next((step for step in steps if isinstance(step, Http)), None)
        if refusal is not None:
            head = http_error(refusal)
            return iter((Head(*head),))
        if any(isinstance(step, Drop) and step.unanswered for step in steps):
            return iter((HangUp(),))
        items = self._items(tools, place, steps, following)
        return self._stream(request, items)

    def _steps(self, place: Place, tools: Tools) -> tuple[list[Step], int]:
        """The steps of this response, and the number of the one that comes after it."""
        if place.purpose == "summary":
            return [Say(f"What was done so far is known. {place.mark}")], place.response
        if place.turn is None:
            return [Say(self.script.otherwise)], 0
        parts = responses(self.script.turns[place.turn])
        steps: list[Step] = []
        following = place.response
        # A response without a call would end the turn, so the next one is said along with it.
        while following < len(parts) and not any(
            isinstance(step, Call) and tools.item(step) for step in steps
        ):
            steps += parts[following]
            following += 1
        return steps or [Say(self.script.otherwise)], following

    def _attempt(self, request: Request, place: Place) -> Attempt:
        key = (request.conversation, place.turn, place.response, place.prompts, place.prompt)
        number = self._attempts.get(key, 0)
        self._attempts[key] = number + 1
        return Attempt(number)

    def _stream(self, request: Request, items: _Items) -> Iterator[Action]:
        headers = dict(_SSE)
        for step, _ in items:
            if isinstance(step, Headers):
                headers |= step.headers
        yield Head(200, headers)
        stream = EventStream(f"resp_{next(self._numbers):06x}", request.model)
        gap = 0.0
        yield stream.begin()
        for action in self._events(stream, request, items):
            if isinstance(action, Slow):
                gap = action.seconds
                continue
            if gap and isinstance(action, bytes):
                yield Wait(gap)
            yield action

    def _events(
        self, stream: EventStream, request: Request, items: _Items
    ) -> Iterator[Action | Slow]:
        tokens = Tokens(input=100 + 10 * len(request.items))
        for step, item in items:
            match step:
                case Tokens():
                    tokens = step
                case Pause(seconds):
                    yield Wait(seconds)
                case Slow():
                    yield step
                case Fault():
                    yield from self._fault(stream, step)
                    if not isinstance(step, Garbage):
                        return
                case _:
                    if item is not None:
                        yield from stream.item(item)
        yield stream.complete(tokens)

    def _fault(self, stream: EventStream, step: Fault) -> Iterator[Action]:
        match step:
            case Drop(saying):
                if saying is not None:
                    yield from stream.unfinished_text(message(saying, self._id("msg")))
                yield HangUp()
            case Silence(seconds):
                yield Wait(seconds)
                yield HangUp()
            case Fail(code, text):
                yield stream.fail(code, text)
            case Incomplete(reason):
                yield stream.stop_early(reason)
            case Garbage(text):
                yield b"event: response.output_item.done\ndata: " + text.encode() + b"\n\n"
            case _:
                return

    def _items(self, tools: Tools, place: Place, steps: list[Step], following: int) -> _Items:
        """Each step with the output item it makes, if it makes one."""
        turn = place.turn or 0
        made: _Items = []
        searches: _Items = []
        for step in steps:
            if not isinstance(step, Call):
                made.append((step, item_of(step, self._id)))
                continue
            item = tools.item(step)
            if item is None:
                continue  # the agent has no such tool: as if the model had not thought of it
            if item["type"] == "tool_search_call":
                call = call_item(item, turn, place.response, next(self._numbers))
                searches.append((step, call))
                continue
            made.append((step, call_item(item, turn, following, next(self._numbers))))
        return searches or made

    def _id(self, prefix: str) -> str:
        return f"{prefix}_{next(self._numbers):06x}"


def refusal(status: int, message_: str) -> Head:
    """An answer to a request that is not for a response."""
    body = msgspec.json.encode({"error": {"message": message_, "type": "invalid_request_error"}})
    return Head(status, {"content-type": "application/json"}, body)
