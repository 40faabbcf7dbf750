"""Whose file it is, and which session it holds: asked of the harness that knows the file."""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.harnesses import all_harnesses, find_harness
from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.contract.history import Origin
from dragoman.reading.parsers import FileReader

FIRST_LINES = 64
"""How many lines are enough to identify a file. Bookkeeping may come first, and what was copied into a fork."""


def named_session(path: str, harness: str | None = None) -> str | None:
    """Return the session in a file's name, if its harness, or any if that is not known, puts it there."""
    named = find_harness(harness) if harness is not None else None
    for each in (named,) if named is not None else all_harnesses():
        if each.history is not None and (origin := each.history.identify(path, ())) is not None:
            return origin.session_id
    return None


def identify(harness: str | None, path: str, first_lines: Sequence[bytes]) -> Origin | None:
    """Return the origin (session, parent, kind) of a file that begins with these lines."""
    found = find_harness(harness) if harness is not None else None
    if found is None or found.history is None:
        return None
    return found.history.identify(path, first_lines[:FIRST_LINES])


def harness_of_file(path: str, first_lines: Sequence[bytes]) -> Harness | None:
    """Return the harness that wrote a file: by its first lines, or by its path if they are damaged."""
    reader = FileReader.sniffed(first_lines)
    if reader.harness is not None:
        return find_harness(reader.harness)
    for each in all_harnesses():
        if each.history is not None and each.history.identify(path, ()) is not None:
            return each
    return None
