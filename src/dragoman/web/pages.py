"""The routes of the page: they collect the values that the ``page`` package renders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import Annotated, Any, Final, cast
from urllib.parse import urlencode

from litestar import MediaType, Request, Response, get
from litestar.di import NamedDependency
from litestar.exceptions import HTTPException
from litestar.params import FromPath, QueryParameter

from dragoman.archive.api import SessionArchive
from dragoman.archive.ledger.groups import Summary
from dragoman.archive.ledger.ledger import EVERYTHING
from dragoman.archive.search.searching import SearchHit
from dragoman.errors import UsageError
from dragoman.hub.hub import UnknownSession
from dragoman.model.messages import RateWindow
from dragoman.web.api.errors import HANDLERS as REFUSING
from dragoman.web.api.errors import ErrorBody
from dragoman.web.api.sessions import Id
from dragoman.web.api.shapes import SessionInfo
from dragoman.web.archive_worker import as_time
from dragoman.web.choosing import acts, choices, closed, receivers
from dragoman.web.guarding import SIGNED_IN
from dragoman.web.page import charts, views
from dragoman.web.page.assets import asset
from dragoman.web.page.rows import (
    OpenRequest,
    PolicyView,
    SessionRow,
    SessionView,
    State,
    TurnMark,
    UsageRow,
    UsageView,
    Window,
)
from dragoman.web.ranges import SessionRanges, drawn
from dragoman.web.service import SessionService, TheService
from dragoman.web.turn_index import TurnMarks

_ASIDE: Final = 50
"""The number of sessions in the sidebar."""
_FIRST: Final = 120
"""The number of entries in the initial page of a session."""
_END: Final = 1 << 53
_DAYS: Final = 120
"""The number of days in the chart of the history."""
_STATES: Final[dict[str, State]] = {"working": "working", "waiting": "waiting", "failed": "failed"}
Asked = Request[Any, Any, Any]


def _html(text: str) -> Response[str]:
    return Response(text, media_type=MediaType.HTML)


def _is_in(request: Asked) -> bool:
    return cast("dict[str, Any]", request.scope).get(SIGNED_IN) is True


def row(session: SessionInfo) -> SessionRow:
    return SessionRow(
        session_id=session.id,
        title=session.title or "",
        state=_STATES.get(session.state, "done"),
        cwd=session.cwd,
        model=session.model,
        harness=session.harness,
        version=session.version,
        at=session.updated_at,
        is_live=session.is_live,
        is_archived=session.archived,
        is_open=session.open_turn and session.state != "working",
        is_elsewhere=session.running_elsewhere,
    )


async def _aside(service: SessionService) -> list[SessionRow]:
    found, _ = await service.sessions(limit=_ASIDE, archived=False)
    return [row(each) for each in found]


@get("/", include_in_schema=False)
async def index(service: TheService, request: Asked) -> Response[str]:
    if not _is_in(request):
        return _html(views.login())
    sessions = await _aside(service)
    return _html(views.index(sessions, await choices(service, sessions)))


@get("/s/{session_id:str}", include_in_schema=False)
async def session(
    service: TheService,
    request: Asked,
    marks: NamedDependency[TurnMarks],
    ranges: NamedDependency[SessionRanges],
    session_id: Id,
) -> Response[str]:
    if not _is_in(request):
        return _html(views.login())
    found = await service.session(session_id)
    sessions = await _aside(service)
    newest = await ranges.before(
        found, (found.last_seq or 0) + 1 if found.is_live else _END, _FIRST
    )
    pending = service.hub.approvals(service.spoken_to(session_id)) if found.is_live else []
    last_seq = newest[-1].entry.seq if newest else 0
    first_seq = newest[0].entry.seq if newest else 1
    view = SessionView(
        row=row(found),
        fragments=drawn(newest),
        has_earlier=first_seq > 1 or max(0, -first_seq) < len(await ranges.earlier(found)),
        last_seq=max(0, last_seq),
        turns=[TurnMark(**each._asdict()) for each in await marks.of(found)],
        pending=[OpenRequest(asked=each.request, deadline_at=each.deadline_at) for each in pending],
        sandbox=found.sandbox,
        windows=_windows(found.rate_limits),
        acts=acts(service, found),
        receivers=receivers(service, found),
        closed=closed(service, found),
    )
    return _html(views.session(view, sessions=sessions, choices=await choices(service, sessions)))


@get("/history", include_in_schema=False)
async def history(
    service: TheService,
    request: Asked,
    q: Annotated[str, QueryParameter(max_length=1_000)] = "",
    cursor: Annotated[str | None, QueryParameter(max_length=500)] = None,
) -> Response[str]:
    if not _is_in(request):
        return _html(views.login())
    sessions = await _aside(service)
    if q.strip():
        rows = await service.archive_worker.ask(lambda archive: _found(archive, q))
        return _html(views.history(rows, query=q, sessions=sessions, total=len(rows)))
    page, following = await service.sessions(limit=50, cursor=cursor)
    days = await service.archive_worker.ask(_days)
    return _html(
        views.history(
            [row(each) for each in page],
            following=f"/history?{urlencode({'cursor': following})}" if following else None,
            days=days,
            sessions=sessions,
        )
    )


def _found(archive: SessionArchive, query: str) -> list[SessionRow]:
    try:
        hits = archive.search(query, limit=50).hits
    except UsageError:
        # Text that is not a valid query is searched literally.
        hits = archive.scan(query, limit=50, ignore_case=True).hits
    return [_found_row(each) for each in hits]


def _found_row(hit: SearchHit) -> SessionRow:
    match = hit.match
    return SessionRow(
        session_id=match.session_id,
        title=match.title or "",
        state="failed" if match.is_error else "done",
        cwd=match.cwd,
        at=as_time(match.at),
        snippet=_marked(hit),
        turn=match.turn,
    )


def _marked(hit: SearchHit) -> str:
    """The snippet, with marks around the matching words."""
    if hit.snippet is None:
        return ""
    text = hit.snippet.text.replace("\x02", " ").replace("\x03", " ")
    pieces: list[str] = []
    at = 0
    for begin, end in hit.snippet.spans:
        if begin >= at:
            pieces += [text[at:begin], "\x02", text[begin:end], "\x03"]
            at = end
    return "".join([*pieces, text[at:]])


def _days(archive: SessionArchive) -> list[tuple[date, int]]:
    counts: dict[date, int] = {}
    for each in archive.sessions(top=True, limit=5_000):
        at = as_time(each.last_at)
        if at is not None:
            day = at.astimezone().date()
            counts[day] = counts.get(day, 0) + 1
    days = charts.every_day(counts, _DAYS)
    return [(day, counts.get(day, 0)) for day in days]


@get("/usage", include_in_schema=False)
async def usage(service: TheService, request: Asked) -> Response[str]:
    if not _is_in(request):
        return _html(views.login())
    days, models, folders = await service.archive_worker.usages(
        ("day", "model", "project"), EVERYTHING
    )
    windows = {
        window[0]: window
        for each in sorted(service.hub.sessions(), key=lambda each: each.updated_at)
        for window in _windows(each.rate_limits)
    }
    view = UsageView(
        days=_usage_rows(days),
        models=_usage_rows(models),
        folders=_usage_rows(folders),
        windows=list(windows.values()),
        sessions=days.total.sessions,
        unpriced_tokens=days.total.unpriced_tokens,
    )
    return _html(views.usage(view, sessions=await _aside(service)))


def _windows(told: Sequence[RateWindow]) -> list[Window]:
    return [(each.name, each.used_percent, each.resets_at) for each in told]


def _usage_rows(told: Summary) -> list[UsageRow]:
    return [
        UsageRow(
            key=group.key,
            input_tokens=group.usage.input_tokens if group.usage else 0,
            cached_input_tokens=group.usage.cached_input_tokens if group.usage else 0,
            output_tokens=group.usage.output_tokens if group.usage else 0,
            cost=float(group.cost) if group.cost is not None else None,
            sessions=group.sessions,
        )
        for group in told.groups
    ]


@get("/policy", include_in_schema=False)
async def policy(service: TheService, request: Asked) -> Response[str]:
    if not _is_in(request):
        return _html(views.login())
    view = PolicyView(text=service.hub.policy_text())
    return _html(views.policy(view, sessions=await _aside(service)))


@get("/static/{name:str}", include_in_schema=False)
async def static(request: Asked, name: FromPath[str]) -> Response[bytes]:
    found = asset(name)
    if found is None:
        raise HTTPException("file not found", status_code=404)
    headers = {"etag": found.etag, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == found.etag:
        return Response(b"", status_code=304, headers=headers, media_type=found.media_type)
    return Response(found.body, headers=headers, media_type=found.media_type)


def _shown(problem: Response[ErrorBody]) -> Response[str]:
    """An error as a page."""
    return Response(
        views.problem(problem.content.error.message),
        status_code=problem.status_code or 500,
        media_type=MediaType.HTML,
    )


def _telling(refused: Callable[[Asked, Exception], Response[ErrorBody]]) -> Any:
    def told(request: Asked, problem: Exception) -> Response[str]:
        return _shown(refused(request, problem))

    return told


def _no_session(_request: Asked, problem: UnknownSession) -> Response[str]:
    words = f"there is no session {problem.session_id!r} on this machine; it may have been deleted"
    return Response(views.problem(words), status_code=404, media_type=MediaType.HTML)


PROBLEMS: dict[Any, Any] = {
    UnknownSession: _no_session,
    **{kind: _telling(refused) for kind, refused in REFUSING.items()},
}
HANDLERS: list[Any] = [index, session, history, usage, policy, static]
