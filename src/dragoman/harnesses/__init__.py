"""The registry of harnesses: the only place that names one, built in or installed as a plug-in.

Another package adds a harness with an entry point of the group ``dragoman.harnesses`` whose value is a
:class:`~dragoman.harnesses.contract.harness.Harness`. Plug-ins are loaded when they are first needed.
One that cannot be loaded is left out and listed by :func:`broken_plugins`.

Importing this module imports what each built-in harness is made of, and no parser and nothing that drives: that is
imported at its first call (:mod:`~dragoman.harnesses.contract.lazy`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dragoman.errors import UsageError
from dragoman.harnesses.any_acp import ANY_ACP
from dragoman.harnesses.claude import CLAUDE
from dragoman.harnesses.codex import CODEX
from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.contract.reading import Dialect, Limit, PlainReader, Value
from dragoman.harnesses.copilot import COPILOT
from dragoman.harnesses.gemini import GEMINI
from dragoman.harnesses.messages import MESSAGES
from dragoman.harnesses.opencode import OPENCODE
from dragoman.harnesses.plugins import BrokenPlugin, Plugins

HARNESSES: tuple[Harness, ...] = (CODEX, CLAUDE, GEMINI, COPILOT, OPENCODE, ANY_ACP, MESSAGES)
"""The built-in ones. Use :func:`all_harnesses`, which includes plug-ins."""

ANY_PROGRAM = ANY_ACP.name
"""The harness of a program that is named by its command alone."""

_plugins = Plugins({each.name for each in HARNESSES})


def all_harnesses() -> tuple[Harness, ...]:
    """Every harness, the built-in ones first."""
    return HARNESSES + _plugins.harnesses()


def _each() -> Iterator[Harness]:
    """Every harness, the built-in ones first: plug-ins are loaded only if those do not suffice."""
    yield from HARNESSES
    yield from _plugins.harnesses()


def broken_plugins() -> tuple[BrokenPlugin, ...]:
    """The plug-ins that are installed and could not be used."""
    return _plugins.broken()


def reload_plugins() -> None:
    """Look for plug-ins again when they are next needed."""
    _plugins.forget()


def find_harness(name: str) -> Harness | None:
    """The harness of this name. Plug-ins are loaded only if no built-in one has it."""
    return next((each for each in _each() if each.name == name), None)


def harness(name: str) -> Harness:
    """As :func:`find_harness`; raises :class:`UsageError` with the known names."""
    found = find_harness(name)
    if found is None:
        known = ", ".join(each.name for each in all_harnesses())
        raise UsageError(f"unknown harness {name!r}; known: {known}")
    return found


def driven() -> tuple[Harness, ...]:
    """The harnesses that can be driven by their names alone, the usual one first."""
    return tuple(each for each in all_harnesses() if each.transports and _has_program(each))


def _has_program(harness: Harness) -> bool:
    return harness.program is None or harness.program.command != ""


def driven_harness(name: str | None = None) -> Harness:
    """The harness of this name that can be driven, or the usual one. Raises :class:`UsageError`."""
    if name is None:
        return next(each for each in HARNESSES if each.transports)
    found = find_harness(name)
    if found is None or not found.transports:
        known = ", ".join(each.name for each in driven())
        raise UsageError(f"there is no harness {name!r} to drive; known: {known}")
    return found


def harness_of(dialect: str) -> Harness | None:
    """The harness that has a dialect of this name."""
    return next((each for each in _each() if each.dialect(dialect) is not None), None)


def sniff_dialect(lines: Sequence[bytes]) -> str | None:
    """The dialect of a stream that starts with these lines, or None while it is still open.

    Plug-ins are loaded only for a stream that no built-in harness knows.
    """
    found = next(filter(None, (each.sniff(lines) for each in HARNESSES)), None)
    return found or _plugins.first(lambda each: each.sniff(lines))


def settle_dialect(lines: Sequence[bytes]) -> str | None:
    """The dialect of a whole stream that could not be sniffed, or None."""
    found = next(filter(None, (each.settle(lines) for each in HARNESSES if each.settle)), None)
    return found or _plugins.first(lambda each: each.settle and each.settle(lines))


def fast_usage_reader(head: bytes) -> PlainReader | None:
    """A harness's quick reader for usage, if it has one for a file that begins with these bytes."""
    found = next(filter(None, (each.plain(head) for each in HARNESSES if each.plain)), None)
    return found or _plugins.first(lambda each: each.plain and each.plain(head))


def limits() -> list[Limit]:
    """What the dialects of every harness cannot carry."""
    return [limit for each in all_harnesses() for limit in each.limits]


def values(line: bytes, reason: str, dialect: str) -> Iterable[Value]:
    """The values on a line that some message has to hold, as the harness of the dialect knows."""
    found = harness_of(dialect)
    return found.values(line, reason) if found is not None and found.values is not None else ()


def dialects() -> list[Dialect]:
    """Every dialect of every harness."""
    return [dialect for each in all_harnesses() for dialect in each.dialects]


def find_dialect(name: str) -> Dialect | None:
    found = harness_of(name)
    return found.dialect(name) if found is not None else None
