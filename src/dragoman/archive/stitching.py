"""Join the parts of a session: what a fork or a revert continues, then its own file.

Since some releases a fork does not copy its parent's rows but refers to a part of the parent's
file, and a reverted session continues in a second file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from dragoman.archive.opening import messages_of
from dragoman.harnesses.contract.history import History
from dragoman.model.messages import Message, Notice, TurnStarted
from dragoman.reading.file_lines import open_file, plain_lines
from dragoman.reading.parsers import history_of
from dragoman.store.files import FileRow, Files

_DEEPEST: Final = 32
"""How many levels of forks are followed."""


class FilePart(NamedTuple):
    """A file, or its beginning."""

    row: FileRow
    end: int | None = None
    """The byte where the part ends; None for the whole file."""


def parts(files: Files, row: FileRow) -> list[FilePart]:
    """Return the parts of a session in order: those of other files, then its own file."""
    found = [FilePart(row)]
    seen = {row.file_id}
    while row.base_session_id is not None and len(found) < _DEEPEST:
        base = _base(files, row, seen)
        if base is None:
            break
        found.insert(0, base)
        row = base.row
        seen.add(row.file_id)
    return found


def is_missing_its_base(files: Files, row: FileRow) -> bool:
    """Whether a session continues a file that does not exist."""
    first = parts(files, row)[0].row
    return first.base_session_id is not None


def _base(files: Files, row: FileRow, seen: set[int]) -> FilePart | None:
    """Return the part that a file continues, if that file exists and is long enough."""
    for each in reversed(files.of_session(row.base_session_id or "")):
        if each.file_id in seen or each.session_id != row.base_session_id:
            continue
        end = _end_in(each, row)
        if end is not None:
            return FilePart(each, end)
    return None


def _end_in(base: FileRow, row: FileRow) -> int | None:
    history = history_of(base.harness)
    if base.compressed or history is None:
        return None
    try:
        with open_file(base.path) as file:
            offset, ordinal = row.base_offset, row.base_ordinal
            if offset:
                file.seek(offset - 1)
                if file.read(1) == b"\n" and _fits(history, file.readline(), ordinal):
                    return offset
        return _end_by_ordinal(history, base.path, ordinal) if ordinal is not None else None
    except OSError:
        return None


def _fits(history: History, line: bytes, ordinal: int | None) -> bool:
    """Whether the row after the end of a part is the expected one, or missing."""
    found = history.row_ordinal(line) if line else None
    return found is None or ordinal is None or found == ordinal


def _end_by_ordinal(history: History, path: str, ordinal: int) -> int | None:
    with open_file(path) as file:
        before: int | None = None
        end = 0
        for piece in plain_lines(file, 0):
            for line, start in zip(piece.lines, piece.starts, strict=False):
                number = history.row_ordinal(line) if isinstance(line, bytes) else None
                if number is not None and number >= ordinal:
                    return start if before is not None else None
                before = number if number is not None else before
            end = piece.starts[-1]
        return end if before == ordinal - 1 else None  # the whole file


def stitched(files: Files, row: FileRow) -> Iterator[Message]:
    """Yield every message of a session, including those it continues."""
    yield from before(files, row)
    yield from messages_of(row.path)


def before(files: Files, row: FileRow) -> Iterator[Message]:
    """Yield the messages that a session continues. They no longer change."""
    for part in parts(files, row)[:-1]:
        yield from messages_of(part.row.path, part.end)
        if part.row.session_id == row.session_id:
            taken = sum(1 for message in _after(part) if isinstance(message, TurnStarted))
            if taken:
                turns = f"{taken} later turns were" if taken > 1 else "a later turn was"
                yield Notice(session_id=row.session_id, level="info", text=f"{turns} undone")


def _after(part: FilePart) -> Iterator[Message]:
    """Yield the messages of a file after the part that was continued."""
    before = sum(1 for _ in messages_of(part.row.path, part.end))
    for number, message in enumerate(messages_of(part.row.path)):
        if number >= before:
            yield message
