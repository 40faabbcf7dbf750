"""The registry of harnesses: the only place that names one, built in or installed as a plug-in.

Another package adds a harness with an entry point of the group ``dragoman.harnesses`` whose value is a
:class:`~dragoman.harnesses.contract.harness.Harness`. Plug-ins are loaded when they are first needed.
One that cannot be loaded is left out and listed by :func:`broken_plugins`.

Importing this module imports no harness. A built-in one is imported when it is first asked for, by its name or because
no harness before it knows a line; and then what it is made of, but no parser and nothing that drives: that is imported at
its first call (:mod:`~dragoman.harnesses.contract.lazy`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from dragoman.errors import UsageError
from dragoman.harnesses.plugins import BrokenPlugin, Plugins

if TYPE_CHECKING:
    from dragoman.harnesses.contract.harness import Harness
    from dragoman.harnesses.contract.reading import Dialect, Limit, PlainReader, Value

    HARNESSES: tuple[Harness, ...]
    """The built-in ones. Use :func:`all_harnesses`, which includes plug-ins."""

_PLACES: Final = {
    "codex": ("codex", "CODEX"),
    "claude": ("claude", "CLAUDE"),
    "gemini": ("gemini", "GEMINI"),
    "copilot": ("copilot", "COPILOT"),
    "qwen": ("qwen", "QWEN"),
    "opencode": ("opencode", "OPENCODE"),
    "acp": ("any_acp", "ANY_ACP"),
    "dragoman": ("messages", "MESSAGES"),
}
"""Where the built-in harnesses are, by their names: the usual one first, and those first whose lines are decisive."""

ANY_PROGRAM: Final = "acp"
"""The harness of a program that is named by its command alone."""

_loaded: Final[dict[str, Harness]] = {}
_plugins = Plugins(_PLACES)


def _built_in(name: str) -> Harness:
    found = _loaded.get(name)
    if found is None:
        module, attribute = _PLACES[name]
        found = _loaded[name] = getattr(import_module(f"{__name__}.{module}"), attribute)
    return found


def _all_built_in() -> Iterator[Harness]:
    """The built-in ones, each imported as it is reached."""
    return map(_built_in, _PLACES)


def __getattr__(name: str) -> Any:
    if name != "HARNESSES":
        raise AttributeError(name)
    return tuple(_all_built_in())


def all_harnesses() -> tuple[Harness, ...]:
    """Every harness, the built-in ones first."""
    return (*_all_built_in(), *_plugins.harnesses())


def _each() -> Iterator[Harness]:
    """Every harness, the built-in ones first: plug-ins are loaded only if those do not suffice."""
    yield from _all_built_in()
    yield from _plugins.harnesses()


def broken_plugins() -> tuple[BrokenPlugin, ...]:
    """The plug-ins that are installed and could not be used."""
    return _plugins.broken()


def reload_plugins() -> None:
    """Look for plug-ins again when they are next needed."""
    _plugins.forget()


def find_harness(name: str) -> Harness | None:
    """The harness of this name. Plug-ins are loaded only if no built-in one has it."""
    if name in _PLACES:
        return _built_in(name)
    return next((each for each in _plugins.harnesses() if each.name == name), None)


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
        return next(each for each in _all_built_in() if each.transports)
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
    found = next(filter(None, (each.sniff(lines) for each in _all_built_in())), None)
    return found or _plugins.first(lambda each: each.sniff(lines))


def settle_dialect(lines: Sequence[bytes]) -> str | None:
    """The dialect of a whole stream that could not be sniffed, or None."""
    found = next(
        filter(None, (each.settle(lines) for each in _all_built_in() if each.settle)), None
    )
    return found or _plugins.first(lambda each: each.settle and each.settle(lines))


def fast_usage_reader(head: bytes) -> PlainReader | None:
    """A harness's quick reader for usage, if it has one for a file that begins with these bytes."""
    found = next(filter(None, (each.plain(head) for each in _all_built_in() if each.plain)), None)
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
