"""A part of a saved session as text for a model, within a number of characters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from dragoman.archive.eliding import Elider
from dragoman.archive.transcripts import transcript
from dragoman.errors import UsageError
from dragoman.model.messages import Message, ToolResult

if TYPE_CHECKING:
    from dragoman.archive.saved import SavedSession
    from dragoman.export.redact import Redactor

_WIDTH: Final = 120


class Excerpt(NamedTuple):
    """What was read, and where to go on."""

    text: str
    next_turn: int | None
    """The turn that was cut short or comes next; None at the end of what was asked for."""
    next_offset: int
    """The characters of that turn that were already returned."""


def read_turns(
    session: SavedSession,
    turns: range,
    redactor: Redactor,
    *,
    offset: int,
    max_chars: int,
    outputs: bool,
) -> Excerpt:
    """Read whole turns until the characters are used up, the first of them from ``offset`` on."""
    parts: list[str] = []
    left = max_chars
    for number in turns:
        text = _turn(session, number, redactor, outputs)[offset:]
        parts.append(text[:left])
        if len(text) > left:
            return Excerpt("".join(parts), number, offset + left)
        left -= len(text)
        offset = 0
    following = turns.stop if turns.stop <= session.turn_count else None
    return Excerpt("".join(parts), following, 0)


def turns_asked_for(session: SavedSession, around: int, first: int) -> range:
    """Return the numbers of the turns to read. Raises :class:`UsageError` if there is no such turn."""
    asked = around or first
    if asked > session.turn_count:
        has = f"{session.turn_count} turn{'s' * (session.turn_count != 1)}"
        raise UsageError(f"no turn {asked}: session {session.id} has {has}")
    if around:
        return range(max(1, around - 1), min(session.turn_count, around + 1) + 1)
    return range(first, session.turn_count + 1)


def _turn(session: SavedSession, number: int, redactor: Redactor, outputs: bool) -> str:
    exporter = transcript(full=False, context=False, colour=False, width=_WIDTH)
    elider = Elider()
    pieces = [f"## Turn {number} of {session.turn_count}\n\n".encode()]
    shown = redactor.redact(_shown(session.turn(number), outputs))
    pieces += [exporter.export([elider.view(message)]) for message in shown]
    pieces.append(exporter.finish())
    return b"".join(pieces).decode().rstrip("\n") + "\n\n"


def _shown(messages: Iterable[Message], outputs: bool) -> Iterator[Message]:
    """Leave out the outputs of calls that succeeded, unless they are wanted."""
    for message in messages:
        if outputs or not isinstance(message, ToolResult) or message.is_error:
            yield message
