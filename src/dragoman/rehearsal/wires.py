"""What the core asks of a wire: an API through which an agent talks to its model.

A script and the place in it are the same for every wire. A wire reads a request's history, puts a step
into a call of a tool that the request offers, and writes the answer in the API's own events.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias

import msgspec

from dragoman.rehearsal.actions import Action, Head
from dragoman.rehearsal.places import ScriptPlace
from dragoman.rehearsal.requests import HttpRequest
from dragoman.rehearsal.script import Http, Script, Step


class RequestHistory(msgspec.Struct, frozen=True):
    """What a request says about its conversation."""

    conversation: str
    items: list[dict[str, Any]]
    """Prompts, context, calls and their outputs, as the wire has them."""
    outputs: list[str]
    """What the agent's tools returned so far, oldest first."""


class StepCalls(msgspec.Struct, frozen=True):
    """The calls that make the agent do what a step says; none if it has no tool for it."""

    calls: tuple[dict[str, Any], ...] = ()
    before: tuple[dict[str, Any], ...] = ()
    """What must be called first, in a response of its own: a search for the tool, a look at the file."""

    def __bool__(self) -> bool:
        return bool(self.calls or self.before)


class StepTools(Protocol):
    """The tools that one request offers."""

    def calls(self, step: Step) -> StepCalls:
        """How the step is put into calls."""
        ...


Played: TypeAlias = Sequence[tuple[Step, dict[str, Any] | None]]
"""Each step of a response with the output item it makes, if it makes one."""


class Wire(Protocol):
    """One API."""

    calling: tuple[type[Step], ...]
    """The steps after which the model hands control back to the agent."""

    def serves(self, request: HttpRequest) -> bool:
        """Whether the request asks for a response through this API."""
        ...

    def auxiliary(self, request: HttpRequest, number: int) -> Iterable[Action] | None:
        """The answer to a request that is not part of a conversation; None if it is. ``number`` is for its id."""
        ...

    def history(self, request: HttpRequest) -> RequestHistory:
        """The conversation that the request carries."""
        ...

    def place(self, script: Script, request: HttpRequest, history: RequestHistory) -> ScriptPlace:
        """Where the request stands in the script."""
        ...

    def tools(self, request: HttpRequest, place: ScriptPlace) -> StepTools:
        """The tools that the request offers."""
        ...

    def item(self, step: Step, number: int) -> dict[str, Any] | None:
        """The output item for a step that is no call; None for one that only shapes the answer."""
        ...

    def call(
        self, item: dict[str, Any], place: ScriptPlace, following: int, number: int
    ) -> dict[str, Any]:
        """A call with its ids; ``following`` is the response that comes after it."""
        ...

    def summary(self, words: str) -> str:
        """A summary in the form in which the agent expects it."""
        ...

    def error(self, step: Http) -> Head:
        """An HTTP error, in the API's usual words."""
        ...

    def stream(
        self, request: HttpRequest, history: RequestHistory, number: int, played: Played
    ) -> Iterator[Action]:
        """The answer."""
        ...
