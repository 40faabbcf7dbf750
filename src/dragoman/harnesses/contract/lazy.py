"""References that import when they are used, so that a harness costs its reader nothing.

A registry loads every harness, and a command uses one of them, mostly for one thing. So the modules that
name what a harness offers (its ``__init__``, ``dialects.py``, ``transports.py``) import no parser and nothing
that drives, plays or repairs. Each such function or class is a reference, made by a function that imports it::

    @on_use
    def _parser():
        from dragoman_toy.parser import ToyParser

        return ToyParser

    Dialect(name="toy", make_parser=_parser, …)

The reference is called like the class, with the same types. A plain function or class fits everywhere, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def on_use(load: Callable[[], Callable[P, T]]) -> Callable[P, T]:
    """A callable that calls what ``load`` returns; ``load`` runs once, at the first call."""
    target: Callable[P, T] | None = None

    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        nonlocal target
        if target is None:
            target = load()
        return target(*args, **kwargs)

    # The name under which the reference can be found, as pickle and tracebacks need it.
    call.__module__, call.__name__ = load.__module__, load.__name__
    call.__qualname__, call.__doc__ = load.__qualname__, load.__doc__
    return call
