"""Parse one line as JSON, or create a message that explains why it is not.

A line that does not start like an object or an array is *noise*: a program printed something into the
stream. One that does but cannot be parsed is *damage*. Both are kept, under different names.

Nothing here knows what the JSON means, or raises anything except :class:`NotJson`.
"""

from __future__ import annotations

import re
from datetime import datetime
from itertools import accumulate
from typing import Any, Final

import msgspec

from dragoman.model.messages import Malformed, Unknown
from dragoman.wire.lines import LongLine

_WHITE_SPACE = b" \t\r\n"

_decode = msgspec.json.Decoder().decode

# Any escape, taken from left to right so that none is read from its middle: a pair of surrogates,
# or (the group) one half without the other, or anything else.
_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
    rb"|\\.",
    re.DOTALL,
)


UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What a decoder may raise for a line: wrong shape, not JSON, not UTF-8, nested too deeply."""


DEEPEST: Final = 128
"""The deepest nesting: the same on every Python, and small enough for recursion."""
_STRING: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_NO_BRACKETS: Final = bytes(byte for byte in range(256) if byte not in b"[]{}")


def is_too_deep(line: bytes) -> bool:
    """Whether a value on the line is nested more deeply than :data:`DEEPEST`."""
    if line.count(b"{") + line.count(b"[") <= DEEPEST:
        return False  # nearly always
    brackets = _STRING.sub(b"", line).translate(None, _NO_BRACKETS)
    steps = (1 if byte in b"[{" else -1 for byte in brackets)
    return max(accumulate(steps), default=0) > DEEPEST


class NotJson(ValueError):
    """The line cannot be read as JSON; ``problem`` is the phrase of :func:`diagnose`."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


def is_blank(line: bytes) -> bool:
    """Whether the line contains only white space."""
    return not line.strip(_WHITE_SPACE)


def text_of(line: bytes) -> str:
    """The line as text that can always be encoded: bytes that are not UTF-8 as ``\\xff``.

    Without the line end that some sources keep.
    """
    return line.rstrip(b"\r\n").decode("utf-8", "backslashreplace")


def loads(line: bytes) -> Any:
    """The JSON value on the line, as plain Python values. Raises :class:`NotJson`, only that.

    Lines with half a surrogate pair are parsed as :func:`mend` returns them.
    """
    try:
        if is_too_deep(line):
            raise RecursionError
        return _decode(line)
    except UNREADABLE as exc:
        problem = _problem(line, exc)
        if isinstance(exc, RecursionError):
            raise NotJson(problem) from None
    mended = mend(line)
    if mended != line:
        try:
            return _decode(mended)
        except UNREADABLE as exc:
            problem = _problem(line, exc)
    raise NotJson(problem)


def mend(line: bytes) -> bytes:
    """The line with U+FFFD in place of each escaped half of a surrogate pair.

    ``"\\ud83d"`` alone is valid JSON, and JavaScript programs write it when they cut a string in the middle of
    an emoji; msgspec rejects it, in one place as "truncated". If a typed decoder fails and this returns a
    different line, decode that one.
    """
    if b"\\ud" not in line and b"\\uD" not in line:
        return line
    return _ESCAPE.sub(lambda match: rb"\ufffd" if match[1] else match[0], line)


def diagnose(line: bytes | LongLine) -> str:
    """Describe in a few words why the line is not JSON. Never raises."""
    if isinstance(line, LongLine):
        return (
            f"line of {line.length} bytes is longer than the limit; "
            f"kept its first {len(line.head)} and last {len(line.tail)} bytes"
        )
    try:
        loads(line)
    except NotJson as exc:
        return exc.problem
    return "JSON, but not what was expected here"


def unknown(
    line: bytes,
    native_type: str,
    *,
    session_id: str | None = None,
    turn_id: str | None = None,
    at: datetime | None = None,
    number: int = 0,
) -> Unknown:
    """The message for a line that is well-formed but unknown."""
    return Unknown(
        session_id=session_id,
        turn_id=turn_id,
        at=at,
        line=number,
        native_type=native_type,
        raw=text_of(line),
    )


def malformed(
    line: bytes | LongLine,
    problem: str = "",
    *,
    session_id: str | None = None,
    turn_id: str | None = None,
    at: datetime | None = None,
    number: int = 0,
) -> Malformed:
    """The message for a line that cannot be parsed; without a ``problem``, diagnose it."""
    is_long = isinstance(line, LongLine)
    raw = f"{text_of(line.head)} … {text_of(line.tail)}" if is_long else text_of(line)
    return Malformed(
        session_id=session_id,
        turn_id=turn_id,
        at=at,
        line=number,
        raw=raw,
        problem=problem or diagnose(line),
    )


def _problem(line: bytes, exc: Exception) -> str:
    if is_blank(line):
        return "blank line"
    if isinstance(exc, RecursionError):
        return "nested too deeply"
    if b"\0" in line:  # a file whose last blocks never reached the disk contains zeros
        return "NUL bytes"
    if line.lstrip(_WHITE_SPACE)[:1] not in (b"{", b"["):
        return "not JSON"
    if isinstance(exc, UnicodeDecodeError):
        return "invalid UTF-8"
    reason = str(exc).removeprefix("JSON is malformed: ")
    return f"broken JSON: {reason[:1].lower()}{reason[1:]}"
