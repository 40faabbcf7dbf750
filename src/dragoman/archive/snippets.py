"""What a match looks like: the words around it, from the bytes of its source.

A line is JSON of some dialect. Whatever strings are in it, the one with most of what was looked for
is taken; no parser is needed for that, and the index keeps no bodies.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, cast

import msgspec

from dragoman.archive.file_lines import open_file, other_lines
from dragoman.store.search import Match

_BEFORE: Final = 60
_AFTER: Final = 140
_LONGEST: Final = 8 << 20
_UNPACKED: Final = 1 << 28
"""How far a compressed file is undone for the sake of a few words."""


class Snippet(NamedTuple):
    """Some words of a message."""

    text: str
    """On one line, with an ellipsis where it was cut."""
    spans: tuple[tuple[int, int], ...] = ()
    """Where in it the words are that were looked for."""


def lines_of(matches: Sequence[Match]) -> dict[int, bytes]:
    """The source lines of matches, by the matches' ids, as far as they can still be read."""
    lines: dict[int, bytes] = {}
    for path in dict.fromkeys(match.path for match in matches):
        here = [match for match in matches if match.path == path and match.offset >= 0]
        try:
            if here and here[0].compressed:
                lines.update(_unpacked(path, here))
            else:
                with open(path, "rb") as file:
                    for match in here:
                        file.seek(match.offset)
                        lines[match.entry_id] = file.read(min(match.length, _LONGEST))
        except OSError:
            continue  # gone meanwhile: then there is nothing to show of it
    return lines


def _unpacked(path: str, matches: Iterable[Match]) -> Iterator[tuple[int, bytes]]:
    wanted = {match.offset: match.entry_id for match in matches}
    last = max(wanted)
    with open_file(path) as file:
        for piece in other_lines(file):
            for line, start in zip(piece.lines, piece.starts, strict=False):
                if start in wanted and isinstance(line, bytes):
                    yield wanted[start], line
            if piece.starts[-1] > min(last, _UNPACKED):
                return


def snippet(line: bytes, needles: Sequence[str]) -> Snippet:
    """The words around what was looked for."""
    patterns = [pattern for needle in needles if (pattern := _pattern(needle))]
    best, most = "", 0
    for text in _texts(line):
        found = sum(1 for pattern in patterns if pattern.search(text))
        if found > most or (not most and len(text) > len(best) and " " in text[:200]):
            best, most = text, found
    return _cut(best, patterns)


def _pattern(needle: str) -> re.Pattern[str] | None:
    words = re.findall(r"\w+", needle)
    return re.compile(r"\W+".join(map(re.escape, words)), re.IGNORECASE) if words else None


def _cut(text: str, patterns: Sequence[re.Pattern[str]]) -> Snippet:
    found = [match for pattern in patterns if (match := pattern.search(text))]
    at = min((match.start() for match in found), default=0)
    begin, end = max(0, at - _BEFORE), at + _AFTER
    piece = " ".join(text[begin:end].split())
    piece = ("…" if begin else "") + piece + ("…" if end < len(text) else "")
    spans = {match.span() for pattern in patterns for match in pattern.finditer(piece)}
    return Snippet(piece, tuple(sorted(spans)))


def _texts(line: bytes) -> Iterator[str]:
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        yield line.decode(errors="replace")
        return
    yield from _strings(value)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if value[:1] in "{[" and value[-1:] in "}]":
            try:
                inner = msgspec.json.decode(value)
            except msgspec.DecodeError:
                yield value
            else:
                yield from _strings(inner)  # what a tool was given, as the model wrote it
        else:
            yield value
    elif isinstance(value, dict):
        for inner in cast("dict[str, Any]", value).values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from _strings(inner)
