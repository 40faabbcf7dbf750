"""Search the archive, in the index or in the files, with a snippet for each match."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from dragoman.archive.search import scanning
from dragoman.archive.search.snippets import Snippet, lines_of, snippet
from dragoman.errors import UsageError
from dragoman.store.database import Database
from dragoman.store.entries import KINDS, Entries
from dragoman.store.files import Files
from dragoman.store.queries import parse
from dragoman.store.search import Filters as Filters
from dragoman.store.search import MessageSearch, SearchMatch

_OTHER_NAMES: Final = {"tool_output": "tool_result", "answer": "text", "command": "tool_call"}


class SearchHit(NamedTuple):
    """A message that was found."""

    match: SearchMatch
    snippet: Snippet | None
    """The text around the match; None if its file is gone."""


class Results(NamedTuple):
    """The result of a search."""

    hits: list[SearchHit]
    is_ranked: bool = True
    """Whether hits are ordered by score; otherwise newest first."""
    is_scan: bool = False
    """Whether every file was read instead of the index."""


def search(database: Database, query: str, filters: Filters, limit: int) -> Results:
    """Return the messages that match a query."""
    parsed = parse(query)
    found = MessageSearch(database).find(parsed.match, _checked(filters), limit=limit)
    return Results(_with_snippets(found.matches, parsed.needles), found.is_ranked)


def scan(database: Database, text: str, filters: Filters, limit: int, ignore_case: bool) -> Results:
    """Return the messages that contain exactly this text."""
    if not text:
        raise UsageError("the text to scan for is empty")
    filters = _checked(filters)
    rows = sorted(Files(database).all().values(), key=lambda row: row.mtime_ns, reverse=True)
    entries, in_index = Entries(database), MessageSearch(database)
    hits: list[SearchHit] = []
    for row in rows:
        lines = {
            hit.offset: hit.line for hit in scanning.scan([row], text, ignore_case=ignore_case)
        }
        # A line without an indexed message duplicates another one, or has nothing to show.
        ids = entries.by_offsets(row.file_id, lines) if lines else {}
        matches = in_index.get(ids.values(), filters) if ids else []
        hits += [
            SearchHit(match, snippet(lines[match.offset], [text], match.kind)) for match in matches
        ]
        if len(hits) >= limit:
            break
    return Results(hits[:limit], is_ranked=False, is_scan=True)


def around(database: Database, match: SearchMatch, reach: int) -> list[SearchHit]:
    """Return a match and its neighbours."""
    near = MessageSearch(database).get(Entries(database).near(match.entry_id, reach))
    return _with_snippets(near, ())


def _with_snippets(matches: Sequence[SearchMatch], needles: Sequence[str]) -> list[SearchHit]:
    lines = lines_of(matches)
    return [
        SearchHit(
            match,
            snippet(lines[match.entry_id], needles, match.kind)
            if match.entry_id in lines
            else None,
        )
        for match in matches
    ]


def _checked(filters: Filters) -> Filters:
    kinds = tuple(dict.fromkeys(_OTHER_NAMES.get(kind, kind) for kind in filters.kinds))
    for kind in kinds:
        if kind not in KINDS:
            known = ", ".join(dict.fromkeys((*KINDS, *_OTHER_NAMES)))
            raise UsageError(f"unknown kind {kind!r} (known: {known})")
    return filters._replace(kinds=kinds)
