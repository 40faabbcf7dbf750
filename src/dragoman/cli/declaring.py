"""Declare commands without importing click, which takes longer to import than many a command runs.

A declared command keeps its declaration. :meth:`DeclaredCommand.read` reads an ordinary command
line: known options with good values. Anything else (help, a mistake, completion, an option with a type of its own)
is left to click, which gets the same declarations from :meth:`DeclaredCommand.for_click`. So click decides alone
what is right, and what a mistake is called.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TextIO, TypeAlias, TypeVar, cast

if TYPE_CHECKING:
    import click

_F = TypeVar("_F", bound=Callable[..., Any])
_PARAMETERS: Final = "__declared_parameters__"
_READABLE: Final = frozenset(
    (
        *("help", "metavar", "shell_complete", "hidden", "show_default", "cls", "names"),
        *("type", "default", "multiple", "is_flag", "flag_value", "nargs"),
    )
)
"""Settings that are understood here, or that only matter for help. One with any other is left to click."""


class _NotOrdinary(Exception):
    """Click must read this command line."""


class LaterType:
    """A type or class of click, made when click is imported."""

    def __init__(self, make: Callable[[], Any], read: Callable[[str], Any] | None = None) -> None:
        self.make = make
        self._read = read

    def read(self, word: str) -> Any:
        if self._read is None:
            raise _NotOrdinary
        return self._read(word)


def later(make: Callable[[], Any]) -> Any:
    """What ``make`` returns, as soon as click is there. An option of such a type is read by click."""
    return LaterType(make)


def choice(choices: Sequence[str]) -> LaterType:
    def read(word: str) -> str:
        return word if word in choices else _leave()

    return LaterType(lambda: _click().Choice(choices), read)


def number_range(name: str, kind: type[float], *bounds: float, **named: Any) -> LaterType:
    """``IntRange`` or ``FloatRange``."""
    low, high = (*bounds, None, None)[:2]
    low, high = named.get("min", low), named.get("max", high)

    def read(word: str) -> float:
        number = kind(word) if word.isascii() and word.isdecimal() else _leave()
        is_low = low is not None and (number < low or (number == low and "min_open" in named))
        is_high = high is not None and (number > high or (number == high and "max_open" in named))
        return _leave() if is_low or is_high else number

    return LaterType(lambda: _finite(getattr(_click(), name)(*bounds, **named)), read)


def _finite(numbers: Any) -> Any:
    """The type without ``nan`` and ``inf``, which are in no range and in every range."""
    convert = numbers.convert

    def checked(value: Any, parameter: Any, context: Any) -> Any:
        number = convert(value, parameter, context)
        if not math.isfinite(number):
            numbers.fail(f"{value!r} is not a finite number.", parameter, context)
        return number

    numbers.convert = checked
    return numbers


def path(**named: Any) -> LaterType:
    def read(word: str) -> str:
        is_ordinary = not named or (named == {"exists": True} and os.access(word, os.R_OK))
        return word if is_ordinary and word != "-" else _leave()

    return LaterType(lambda: _click().Path(**named), read)


def _leave() -> Any:
    raise _NotOrdinary


def _click() -> Any:
    import click

    return click


class _Declared:
    """An option or an argument."""

    def __init__(self, kind: str, words: tuple[str, ...], settings: dict[str, Any]) -> None:
        self.kind, self.words, self.settings = kind, words, settings
        self.is_readable = settings.keys() <= _READABLE
        self.is_many = settings.get("multiple", False) or settings.get("nargs") == -1
        self.flags: dict[str, bool] = {}
        """The words that turn it on or off, if it is a flag."""
        self.options: list[str] = []
        """The words that are followed by a value."""
        self.name = ""
        for word in words:
            if not word.startswith("-"):
                self.name = word
                continue
            on, slash, off = word.partition("/")
            if slash or settings.get("is_flag"):
                self.flags |= {on: True, off: False} if slash else {on: True}
            else:
                self.options.append(on)
        if not self.name:
            longest = max(words, key=lambda word: len(word) - len(word.lstrip("-")))
            self.name = longest.partition("/")[0].lstrip("-").replace("-", "_").lower()

    @property
    def default(self) -> Any:
        if self.is_many:
            return ()
        if self.kind == "argument" and "default" not in self.settings:
            return _leave()  # click reports that it is missing
        return self.settings.get("default", False if self.flags else None)

    def read(self, word: str) -> Any:
        """The value for a word."""
        kind = self.settings.get("type")
        if "flag_value" in self.settings or not self.is_readable:
            raise _NotOrdinary
        if kind is None:
            return word
        return kind.read(word) if isinstance(kind, LaterType) else _leave()

    def for_click(self) -> Callable[[_F], _F]:
        settings = {
            name: value.make() if isinstance(value, LaterType) else value
            for name, value in self.settings.items()
        }
        made: Callable[[_F], _F] = getattr(_click(), self.kind)(*self.words, **settings)
        return made


class DeclaredCommand:
    """A command: what it does, and the declarations of its parameters."""

    def __init__(self, callback: Callable[..., Any], settings: Mapping[str, Any]) -> None:
        self.callback = callback
        self._settings = settings
        # Decorators run from the last one up.
        self._parameters: list[_Declared] = getattr(callback, _PARAMETERS, [])[::-1]
        self._made: click.Command | None = None

    def for_click(self) -> click.Command:
        """The same command for click."""
        if self._made is None:
            function = self.callback
            for each in reversed(self._parameters):
                function = each.for_click()(function)
            made = _click().command(**self._settings)(function)
            self._made = made
            return made
        return self._made

    def __getattr__(self, name: str) -> Any:
        """Any other attribute of a click command."""
        return getattr(self.for_click(), name)

    def read(self, words: Sequence[str]) -> dict[str, Any] | None:
        """The values of all parameters; None if click must read this command line."""
        if self._settings.keys() - {"short_help"} or sys.platform == "win32":
            return None
        try:
            return self._read(list(words))
        except (_NotOrdinary, ValueError):
            return None

    def _read(self, words: list[str]) -> dict[str, Any]:
        flags = {word: (each, on) for each in self._parameters for word, on in each.flags.items()}
        options = {word: each for each in self._parameters for word in each.options}
        given: dict[str, Any] = {}
        plain: list[str] = []
        words.reverse()
        while words:
            word = words.pop()
            if word == "-" or not word.startswith("-"):
                plain.append(word)
                continue
            name, equals, value = word.partition("=")
            if equals and not name.startswith("--"):
                raise _NotOrdinary
            if name in flags and not equals:
                parameter, given_value = flags[name]
                if not parameter.is_readable:
                    raise _NotOrdinary
            elif name in options:
                parameter = options[name]
                if not equals:
                    value = words.pop() if words else _leave()
                    if value.startswith("-"):
                        raise _NotOrdinary
                given_value = parameter.read(value)
            else:
                raise _NotOrdinary
            if parameter.is_many:
                given_value = (*given.get(parameter.name, ()), given_value)
            elif parameter.name in given:
                raise _NotOrdinary
            given[parameter.name] = given_value
        for parameter in self._parameters:
            if parameter.kind == "argument":
                if parameter.is_many:
                    given[parameter.name] = tuple(map(parameter.read, plain))
                    plain = []
                elif plain:
                    given[parameter.name] = parameter.read(plain.pop(0))
            if parameter.name not in given:
                given[parameter.name] = parameter.default
        return given if not plain else _leave()

    def run(self, values: Mapping[str, Any]) -> Any:
        """Call it, and afterwards what :func:`on_close` was given."""
        _closing.append([])
        try:
            return self.callback(**values)
        finally:
            for close in reversed(_closing.pop()):
                close()


_closing: Final[list[list[Callable[[], object]]]] = []
"""What to call when a command ends that click does not run."""


def on_close(callback: Callable[[], object]) -> None:
    """Have this called when the running command ends, if there is one."""
    if _closing:
        _closing[-1].append(callback)
    elif "click" in sys.modules and (context := _click().get_current_context(silent=True)):
        context.call_on_close(callback)


Declaration: TypeAlias = Callable[[_F], _F]


def command(**settings: Any) -> Callable[[Callable[..., Any]], DeclaredCommand]:
    """Declare a command, as ``click.command``."""
    return lambda callback: DeclaredCommand(callback, settings)


def option(*words: str, **settings: Any) -> Declaration[Any]:
    """Declare an option, as ``click.option``."""
    return _declare("option", words, settings)


def argument(*words: str, **settings: Any) -> Declaration[Any]:
    """Declare an argument, as ``click.argument``."""
    return _declare("argument", words, settings)


def _declare(kind: str, words: tuple[str, ...], settings: dict[str, Any]) -> Declaration[Any]:
    def declare(callback: Any) -> Any:
        if not hasattr(callback, _PARAMETERS):
            setattr(callback, _PARAMETERS, [])
        getattr(callback, _PARAMETERS).append(_Declared(kind, words, settings))
        return callback

    return declare


def echo(message: Any = None, file: Any = None, nl: bool = True, err: bool = False) -> None:
    """Print a line, as ``click.echo``, which prints whatever is not plain text for a UTF-8 stream."""
    out = cast("TextIO | None", sys.stderr if err else sys.stdout)  # a shell can close it
    if (
        out is None
        or file is not None
        or message.__class__ is not str
        or "\x1b" in message
        or out.encoding.lower() != "utf-8"
        or sys.platform == "win32"
    ):
        _click().echo(message, file=file, nl=nl, err=err)
        return
    out.write(f"{message}\n" if nl else message)
    out.flush()
