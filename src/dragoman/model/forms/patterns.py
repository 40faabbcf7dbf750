"""Match untrusted regular expressions in bounded time.

A form's schema comes from an MCP server and may contain a pattern on which Python's ``re`` practically never
returns. Here a pattern becomes a small automaton that reads each character once. Unsupported constructs
(lookaround, back references, ``\\p{…}``) are not checked: the server that sent the form checks them itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

_MOST_STATES: Final = 4_000
_MOST_STEPS: Final = 2_000_000
"""States times characters."""
_DEEPEST: Final = 50

_Test: TypeAlias = Callable[[str], bool]
_NAMED: Final[dict[str, _Test]] = {
    "d": lambda c: "0" <= c <= "9",
    "w": lambda c: c == "_" or (c.isascii() and c.isalnum()),
    "s": lambda c: c.isspace() or c == "\ufeff",
}
_CONTROLS: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "0": "\0"}


class _Unsupported(Exception):
    """The pattern is invalid, or uses something unsupported."""


class _Step(NamedTuple):
    """One state: a character test, a position (``^ $ b B``), or nothing, and the next states."""

    test: _Test | None
    place: str | None
    then: tuple[int, ...]


def matches(pattern: str, text: str) -> bool | None:
    """Whether the text contains a match; None if that cannot be decided in bounded time."""
    try:
        steps, start = _Compiler(pattern).compile()
    except (_Unsupported, RecursionError):
        return None
    if len(steps) * (len(text) + 1) > _MOST_STEPS:
        return None
    return _found(steps, start, text)


def _found(steps: list[_Step], start: int, text: str) -> bool:
    alive: set[int] = set()
    for at in range(len(text) + 1):
        alive.add(start)  # a match may begin anywhere
        alive = _spread(steps, alive, text, at)
        if 0 in alive:
            return True
        if at < len(text):
            char = text[at]
            alive = {
                then
                for i in alive
                if (test := steps[i].test) and test(char)
                for then in steps[i].then
            }
    return False


def _spread(steps: list[_Step], alive: set[int], text: str, at: int) -> set[int]:
    """All states reachable from these without reading a character."""
    seen, todo = set(alive), list(alive)
    while todo:
        step = steps[todo.pop()]
        if step.test is None and (step.place is None or _is_at(step.place, text, at)):
            todo += (fresh := [then for then in step.then if then not in seen])
            seen.update(fresh)
    return seen


def _is_at(place: str, text: str, at: int) -> bool:
    if place == "^":
        return at == 0
    if place == "$":
        return at == len(text)
    word = _NAMED["w"]
    before, after = at > 0 and word(text[at - 1]), at < len(text) and word(text[at])
    return (before != after) == (place == "b")


_Make: TypeAlias = Callable[[int], int]
"""Adds a part of the automaton that leads to the given state; returns its first state."""


class _Compiler:
    def __init__(self, pattern: str) -> None:
        self._left = list(reversed(pattern))
        self._steps = [_Step(None, None, ())]  # 0: found
        self._depth = 0

    def compile(self) -> tuple[list[_Step], int]:
        make = self._alternatives()
        if self._left:
            raise _Unsupported
        return self._steps, make(0)

    def _add(self, test: _Test | None, place: str | None, *then: int) -> int:
        if len(self._steps) >= _MOST_STATES:
            raise _Unsupported
        self._steps.append(_Step(test, place, then))
        return len(self._steps) - 1

    def _next(self) -> str:
        if not self._left:
            raise _Unsupported
        return self._left.pop()

    def _takes(self, words: str) -> bool:
        if self._left[: -len(words) - 1 : -1] != list(words):
            return False
        del self._left[-len(words) :]
        return True

    def _alternatives(self) -> _Make:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _Unsupported
        options = [self._sequence()]
        while self._takes("|"):
            options.append(self._sequence())
        self._depth -= 1
        if len(options) == 1:
            return options[0]
        return lambda then: self._add(None, None, *[make(then) for make in options])

    def _sequence(self) -> _Make:
        pieces: list[_Make] = []
        while self._left and self._left[-1] not in "|)":
            pieces.append(self._repeated(self._atom()))

        def make(then: int) -> int:
            for piece in reversed(pieces):
                then = piece(then)
            return then

        return make

    def _repeated(self, atom: _Make) -> _Make:
        bounds = self._bounds()
        if bounds is None:
            return atom
        self._takes("?")  # lazy: finds the same
        if self._bounds() is not None:
            raise _Unsupported  # nothing to repeat
        least, most = bounds

        def make(then: int) -> int:
            if most is None:
                again = self._add(None, None)
                self._steps[again] = _Step(None, None, (atom(again), then))
                then = again
            else:
                for _ in range(most - least):
                    then = self._add(None, None, atom(then), then)
            for _ in range(least):
                then = atom(then)
            return then

        return make

    def _bounds(self) -> tuple[int, int | None] | None:
        for sign, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self._takes(sign):
                return bounds
        if not self._left or self._left[-1] != "{":
            return None
        inside = "".join(reversed(self._left)).partition("}")
        words = inside[0][1:].split(",")
        if not inside[1] or len(words) > 2 or not words[0].isdecimal() or not words[0].isascii():
            return None  # then it is a brace
        if len(words) == 2 and words[1] and not (words[1].isdecimal() and words[1].isascii()):
            return None
        if max(map(len, words)) > 6:
            raise _Unsupported
        del self._left[-len(inside[0]) - 1 :]
        least = int(words[0])
        most = least if len(words) == 1 else int(words[1]) if words[1] else None
        if most is not None and (most < least or most > _MOST_STATES):
            raise _Unsupported
        if least > _MOST_STATES:
            raise _Unsupported
        return least, most

    def _atom(self) -> _Make:
        char = self._next()
        if char == "(":
            return self._group()
        if char in "^$":
            return lambda then: self._add(None, char, then)
        if char == "\\" and self._left and self._left[-1] in "bB":
            place = self._next()
            return lambda then: self._add(None, place, then)
        if char in "*+?":
            raise _Unsupported
        test = self._test(char)
        return lambda then: self._add(test, None, then)

    def _test(self, char: str) -> _Test:
        if char == ".":
            return lambda c: c not in "\n\r\u2028\u2029"
        if char == "[":
            return self._class()
        if char == "\\":
            escaped = self._escape()
            return escaped if callable(escaped) else escaped.__eq__
        return char.__eq__

    def _group(self) -> _Make:
        if self._takes("?") and not self._takes(":"):
            if not self._takes("<") or not self._left or self._left[-1] in "=!":
                raise _Unsupported
            while self._next() != ">":
                pass
        make = self._alternatives()
        if not self._takes(")"):
            raise _Unsupported
        return make

    def _escape(self) -> _Test | str:
        char = self._next()
        if char.lower() in _NAMED:
            test = _NAMED[char.lower()]
            return test if char.islower() else lambda c: not test(c)
        if char in _CONTROLS:
            return _CONTROLS[char]
        if char in "xu":
            digits = "".join(self._next() for _ in range(2 if char == "x" else 4))
            try:
                return chr(int(digits, 16))
            except ValueError:
                raise _Unsupported from None
        if char.isalnum():
            raise _Unsupported  # a back reference, a property, or nothing that is known
        return char

    def _class(self) -> _Test:
        negated = self._takes("^")
        tests: list[_Test] = []
        singles: set[str] = set()
        while (char := self._next()) != "]":
            first = self._member(char)
            is_range = len(self._left) > 1 and self._left[-1] == "-" and self._left[-2] != "]"
            if not is_range or not isinstance(first, str):
                if isinstance(first, str):
                    singles.add(first)
                else:
                    tests.append(first)
                continue
            self._next()
            last = self._member(self._next())
            if not isinstance(last, str) or last < first:
                raise _Unsupported
            tests.append(lambda c, first=first, last=last: first <= c <= last)
        return lambda c: (c in singles or any(test(c) for test in tests)) != negated

    def _member(self, char: str) -> _Test | str:
        if char != "\\":
            return char
        if self._takes("b"):
            return "\b"
        return self._escape()
