"""Show a match: the text around it, taken from the source line.

A line is JSON of some dialect and often contains more than the matching message: a command and its
output, a text and its encrypted duplicate. The kind of the message determines which fields can
contain its text; among those, the field with the most matching terms wins. This needs no parser,
and no message text in the index.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, cast

import msgspec

from dragoman.reading.file_lines import open_file, other_lines
from dragoman.reading.regular import open_regular
from dragoman.store.search import SearchMatch

_BEFORE: Final = 60
_AFTER: Final = 140
_LONGEST: Final = 8 << 20
_UNPACKED: Final = 1 << 28
"""The most bytes of a compressed file that are decompressed for a snippet."""


class Snippet(NamedTuple):
    """A piece of a message's text."""

    text: str
    """One line, with an ellipsis where it was cut."""
    spans: tuple[tuple[int, int], ...] = ()
    """The positions of the matching terms."""


def lines_of(matches: Sequence[SearchMatch]) -> dict[int, bytes]:
    """Return the source lines of matches by id, as far as they can still be read."""
    lines: dict[int, bytes] = {}
    for path in dict.fromkeys(match.path for match in matches):
        here = [match for match in matches if match.path == path and match.offset >= 0]
        try:
            if here and here[0].compressed:
                lines.update(_unpacked(path, here))
            else:
                with open_regular(path) as file:
                    for match in here:
                        file.seek(match.offset)
                        lines[match.entry_id] = file.read(min(match.length, _LONGEST))
        except OSError:
            continue  # deleted in the meantime, so there is nothing to show
    return lines


def _unpacked(path: str, matches: Iterable[SearchMatch]) -> Iterator[tuple[int, bytes]]:
    wanted = {match.offset: match.entry_id for match in matches}
    last = max(wanted)
    with open_file(path) as file:
        for piece in other_lines(file):
            for line, start in zip(piece.lines, piece.starts, strict=False):
                if start in wanted and isinstance(line, bytes):
                    yield wanted[start], line
            if piece.starts[-1] > min(last, _UNPACKED):
                return


_SAID: Final = frozenset(("text", "message", "content", "summary", "summary_text", "input_text"))
_GIVEN: Final = frozenset(
    (
        "command",
        "cmd",
        "arguments",
        "input",
        "query",
        "changes",
        "parsed_cmd",
        "action",
        "invocation",
    )
)
_PUT_OUT: Final = frozenset(
    (
        "output",
        "aggregated_output",
        "aggregatedOutput",
        "formatted_output",
        "stdout",
        "stderr",
        "result",
        "content_items",
        "contentItems",
        "error",
    )
)
_FIELDS: Final = {
    "prompt": _SAID,
    "text": _SAID,
    "thinking": _SAID,
    "compacted": _SAID,
    "tool_call": _GIVEN,
    "tool_result": _PUT_OUT,
    "notice": _SAID | {"details", "error"},
    "turn_ended": _SAID | {"error"},
}
"""The fields that contain the text of each kind of message, directly or nested."""
_NEVER: Final = frozenset(
    (
        "type",
        "id",
        "call_id",
        "encrypted_content",
        "timestamp",
        "cwd",
        "session_id",
        "turn_id",
        "thread_id",
        "threadId",
        "turnId",
        "itemId",
        "role",
        "status",
        "model",
        "source",
    )
)
"""Metadata fields, which are shown only if nothing else matches."""


def snippet(line: bytes, needles: Sequence[str], kind: str | None = None) -> Snippet:
    """Return the text around the needles, in a message of this kind."""
    patterns = [pattern for needle in needles if (pattern := _pattern(needle))]
    fields = _FIELDS.get(kind or "", frozenset[str]())
    best, rank = "", (0, 0, 0, 0)
    for keys, text in _texts(line):
        found = sum(1 for pattern in patterns if pattern.search(text))
        aside = not _NEVER.isdisjoint(keys)
        inside = not fields.isdisjoint(keys)
        length = len(text) if not found and " " in text[:200] else 0
        this = (int(found > 0 and not aside), int(inside and not aside), found, length)
        if this > rank:
            best, rank = text, this
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


def _texts(line: bytes) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield every string in a line, with the names of the enclosing fields, outermost first."""
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        yield (), line.decode(errors="replace")
        return
    yield from _strings(value, ())


def _strings(value: Any, keys: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, str):
        if value[:1] in "{[" and value[-1:] in "}]":
            try:
                inner = msgspec.json.decode(value)
            except msgspec.DecodeError:
                yield keys, value
            else:
                yield from _strings(inner, keys)  # a tool's arguments are JSON within JSON
        else:
            yield keys, value
    elif isinstance(value, dict):
        for key, inner in cast("dict[str, Any]", value).items():
            yield from _strings(inner, (*keys, key))
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from _strings(inner, keys)
