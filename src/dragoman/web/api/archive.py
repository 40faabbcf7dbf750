"""Endpoints on saved data: search, usage, and sessions in other formats."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator
from datetime import datetime
from typing import Annotated, Any, Final

from litestar import get
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import FromQuery, QueryParameter
from litestar.response.base import ASGIResponse

from dragoman import export as formats
from dragoman.archive.api import SessionArchive
from dragoman.archive.ledger.groups import By, LedgerGroup
from dragoman.archive.ledger.ledger import LedgerFilter
from dragoman.archive.search.searching import Filters
from dragoman.archive.search.searching import SearchHit as Found
from dragoman.errors import UnknownFormat
from dragoman.reading.mapper import make_exporter
from dragoman.web.api import shapes
from dragoman.web.api.sessions import Id
from dragoman.web.api.shapes import Hit, Hits, UsageGroup, UsageSummary
from dragoman.web.archive_worker import as_time
from dragoman.web.service import SessionService, TheService
from dragoman.web.streams.streaming import EventStream, Pipe

_MEDIA: Final = {
    "html": ("text/html; charset=utf-8", "html"),
    "markdown": ("text/markdown; charset=utf-8", "md"),
    "text": ("text/plain; charset=utf-8", "txt"),
    "json": ("application/json", "json"),
}
_LINES: Final = ("application/x-ndjson", "jsonl")
_PAGE: Final = 500
Text = Annotated[str | None, QueryParameter(max_length=1_000)]


@get("/search", summary="Search all sessions", tags=["archive"])
async def search(
    service: TheService,
    q: Annotated[str, QueryParameter(min_length=1, max_length=1_000, description="Words to find.")],
    limit: Annotated[int, QueryParameter(ge=1, le=200)] = 20,
    session_id: Text = None,
    project: Text = None,
    harness: Text = None,
    tool: Text = None,
    kind: Text = None,
    since: FromQuery[datetime | None] = None,
    until: FromQuery[datetime | None] = None,
    errors: FromQuery[bool] = False,
    scan: FromQuery[bool] = False,
) -> Hits:
    """Best match first. ``scan`` reads every file and finds exactly this text."""
    filters = Filters(
        kinds=(kind,) if kind else (),
        project=project,
        since=since.timestamp() if since else None,
        until=until.timestamp() if until else None,
        tool=tool,
        errors=errors,
        session_id=session_id,
        harness=harness,
    )

    def look(archive: SessionArchive) -> Hits:
        find = archive.scan if scan else archive.search
        found = find(q, filters, limit=limit)
        progress = shapes.indexing(service.archive_worker.indexing)
        return Hits([_hit(each) for each in found.hits], found.is_ranked, progress)

    return await service.archive_worker.ask(look)


def _hit(found: Found) -> Hit:
    match, words = found.match, found.snippet
    return Hit(
        session_id=match.session_id,
        turn=match.turn,
        kind=match.kind,
        tool=match.tool,
        at=as_time(match.at),
        is_error=bool(match.is_error),
        cwd=match.cwd,
        title=match.title,
        line=match.line,
        snippet=words.text if words else None,
        spans=[(begin, end) for begin, end in words.spans] if words else [],
    )


@get("/usage", summary="Get tokens and cost", tags=["archive"])
async def usage(
    service: TheService,
    by: FromQuery[By] = "day",
    since: FromQuery[datetime | None] = None,
    until: FromQuery[datetime | None] = None,
    project: Text = None,
    model: Text = None,
) -> UsageSummary:
    """For all sessions on this machine. Usage that a session does not report is unknown, not zero."""
    choice = LedgerFilter(since=_aware(since), until=_aware(until), project=project, model=model)
    told = await service.archive_worker.usage(by, choice)
    return UsageSummary(by, [_group(each) for each in told.groups], _group(told.total))


def _aware(at: datetime | None) -> datetime | None:
    return at.astimezone() if at is not None and at.tzinfo is None else at


def _group(group: LedgerGroup) -> UsageGroup:
    return UsageGroup(
        key=group.key,
        usage=group.usage,
        cost=str(group.cost) if group.cost is not None else None,
        unpriced_tokens=group.unpriced_tokens,
        responses=group.responses,
        sessions=group.sessions,
        silent_sessions=group.silent_sessions,
        models=group.models,
    )


@get(
    "/sessions/{session_id:str}/export",
    summary="Export a session",
    tags=["sessions"],
    responses={200: ResponseSpec(str, description="The session.", media_type="text/plain")},
)
async def export(
    service: TheService,
    session_id: Id,
    format: Annotated[str, QueryParameter(max_length=50)] = "messages",
) -> ASGIResponse:
    """``format`` is one of the formats that ``dragoman dialects`` lists."""
    if formats.find(format) is None:
        raise UnknownFormat(format, [each.name for each in formats.FORMATS])
    await service.session(session_id)
    media_type, ending = _MEDIA.get(format, _LINES)
    name = re.sub(r"[^A-Za-z0-9._-]", "-", session_id)[:100]
    headers = {
        "content-type": media_type,
        "content-disposition": f'attachment; filename="{name}.{ending}"',
    }
    pieces = _first_piece(_exported(service, session_id, format))
    pouring = _Pouring(service, await anext(pieces), pieces)
    return EventStream(pouring, headers=headers, media_type=media_type)


async def _first_piece(pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    """The same pieces, after the first is ready: an error then still gets an error status."""
    first = b""
    async for piece in pieces:
        first = piece
        break
    yield first
    async for piece in pieces:
        yield piece


class _Pouring:
    def __init__(self, service: SessionService, first: bytes, rest: AsyncIterator[bytes]) -> None:
        self._service = service
        self._first = first
        self._rest = rest

    async def __call__(self, pipe: Pipe) -> None:
        async with self._service.broadcasts.watched(pipe):
            await pipe.write(self._first)
            await pipe.pour(self._rest)


async def _exported(service: SessionService, session_id: str, to: str) -> AsyncGenerator[bytes]:
    live = service.live(session_id)
    if live is None:
        async for piece in service.archive_worker.export(session_id, to):
            yield piece
        return
    exporter, _ = make_exporter(to)
    after = 0
    while page := service.hub.entries(live.id, after=after, limit=_PAGE):
        yield exporter.export([each.message for each in page])
        after = page[-1].seq
    yield exporter.finish()


HANDLERS: list[Any] = [search, usage, export]
