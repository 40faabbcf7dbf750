"""Harnesses with a fault, for tests of the conformance suite: the real one with something changed on the way."""

# A fault takes the place of a method of any type.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.contract.transport import SessionTransport, TurnTransport
from dragoman.model.messages import Message

Change = Callable[[list[Message]], list[Message]]
Sabotage = Callable[[Harness], Harness]


class Wrapped:
    """Something with some of its methods replaced; each is given the original one first."""

    def __init__(self, inner: Any, **methods: Callable[..., Any]) -> None:
        self._inner = inner
        self._methods = methods

    def __getattr__(self, name: str) -> Any:
        original = getattr(self._inner, name)
        method = self._methods.get(name)
        return original if method is None else lambda *given: method(original, *given)


def parsing(**methods: Callable[..., Any]) -> Sabotage:
    """Replace methods of every parser."""

    def sabotage(harness: Harness) -> Harness:
        def changed(dialect: Any) -> Any:
            def make(*, only: Any, audit: bool) -> Any:
                return Wrapped(dialect.make_parser(only=only, audit=audit), **methods)

            return replace(dialect, make_parser=make)

        return replace(harness, dialects=tuple(map(changed, harness.dialects)))

    return sabotage


def emitting(change: Change) -> Sabotage:
    """Change the messages of every parser."""
    return parsing(messages=lambda original: change(original()))


def conversing(**methods: Callable[..., Any]) -> Sabotage:
    """Replace methods of every conversation."""

    def sabotage(harness: Harness) -> Harness:
        def changed(transport: Any) -> Any:
            if not isinstance(transport, SessionTransport):
                return transport
            make: Any = transport.conversation
            return replace(transport, conversation=lambda *given: Wrapped(make(*given), **methods))

        return replace(harness, transports=tuple(map(changed, harness.transports)))

    return sabotage


def running(**methods: Callable[..., Any]) -> Sabotage:
    """Replace methods of every run."""

    def sabotage(harness: Harness) -> Harness:
        def changed(transport: Any) -> Any:
            if not isinstance(transport, TurnTransport):
                return transport
            make: Any = transport.make_run
            return replace(transport, make_run=lambda *given: Wrapped(make(*given), **methods))

        return replace(harness, transports=tuple(map(changed, harness.transports)))

    return sabotage


def offering(change: Callable[[Any], Any]) -> Sabotage:
    """Change the capabilities."""

    def sabotage(harness: Harness) -> Harness:
        offered = harness.capabilities
        return replace(harness, capabilities=lambda release: change(offered(release)))

    return sabotage


def without(kind: type[Message]) -> Change:
    """Leave messages of a type out."""
    return lambda messages: [each for each in messages if not isinstance(each, kind)]


def twice(kind: type[Message]) -> Change:
    """Emit messages of a type twice."""
    return lambda messages: [
        each
        for message in messages
        for each in (message,) * (2 if isinstance(message, kind) else 1)
    ]


def changed(kind: type[Message], **fields: Any) -> Change:
    return lambda messages: [
        msgspec.structs.replace(each, **fields) if isinstance(each, kind) else each
        for each in messages
    ]
