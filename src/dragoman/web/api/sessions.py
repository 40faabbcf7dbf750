"""``/api/v1/sessions`` and ``/api/v1/harnesses``: what there is, what is begun, named, put away and ended."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Response, get, patch, post
from litestar.openapi.spec import Example
from litestar.params import FromQuery, HeaderParameter, JSONBody, PathParameter, QueryParameter

from dragoman.web.api import shapes
from dragoman.web.api.shapes import (
    EntryInfo,
    EntryPage,
    Harnesses,
    RenameBody,
    SessionInfo,
    SessionPage,
    StartSession,
)
from dragoman.web.service import TheService

Id = Annotated[str, PathParameter(max_length=200)]
Limit = Annotated[int, QueryParameter(ge=1, le=1_000, description="How many at most.")]
After = Annotated[int, QueryParameter(ge=0, le=1 << 53, description="The entry that was had last.")]
MaybeAfter = Annotated[
    int | None, QueryParameter(ge=0, le=1 << 53, description="The entry that was had last.")
]
Key = Annotated[
    str | None,
    HeaderParameter(
        name="Idempotency-Key",
        max_length=200,
        description="The same request with the same key is carried out once.",
        examples=[Example(value="3f0c")],
    ),
]

KeepCommands = Annotated[
    bool,
    QueryParameter(
        description="Leave the commands of the session running; they are stopped otherwise."
    ),
]


@get("/harnesses", summary="Agent programs, and what each can do", tags=["harnesses"])
async def harnesses(service: TheService) -> Harnesses:
    return Harnesses(service.hub.harnesses())


@get("/sessions", summary="All sessions, the newest first", tags=["sessions"])
async def sessions(
    service: TheService,
    limit: Limit = 50,
    cursor: Annotated[str | None, QueryParameter(max_length=500)] = None,
    live: FromQuery[bool | None] = None,
    archived: FromQuery[bool | None] = None,
    project: Annotated[str | None, QueryParameter(max_length=4096)] = None,
) -> SessionPage:
    """Live ones and those on the disk. ``live=true``: only those that can be spoken to."""
    page, following = await service.sessions(
        limit=limit, cursor=cursor, live=live, archived=archived, project=project
    )
    return SessionPage(page, following, shapes.indexing(service.archive_worker.indexing))


@post("/sessions", summary="Begin a session, or go on with a saved one", tags=["sessions"])
async def start(
    service: TheService, data: JSONBody[StartSession], idempotency_key: Key = None
) -> SessionInfo:
    """``cwd`` must lie inside one of the roots that the server was started with."""
    session = await service.hub.start(
        cwd=service.hub.allowed(data.cwd),
        prompt=data.prompt,
        images=service.images(data.images),
        model=data.model,
        effort=data.effort,
        sandbox=data.sandbox,
        approvals=data.approvals,
        idempotency_key=idempotency_key,
        resume=data.resume,
        title=await service.taken_up(data.resume),
    )
    return shapes.live(session)


@get("/sessions/{session_id:str}", summary="A session", tags=["sessions"])
async def session(service: TheService, session_id: Id) -> SessionInfo:
    return await service.session(session_id)


@patch("/sessions/{session_id:str}", summary="Give a session a name", tags=["sessions"])
async def rename(service: TheService, session_id: Id, data: JSONBody[RenameBody]) -> SessionInfo:
    return await service.rename(session_id, data.title)


@post("/sessions/{session_id:str}/archive", summary="Put a session away", tags=["sessions"])
async def archive(service: TheService, session_id: Id) -> SessionInfo:
    return await service.archive(session_id, archived=True)


@post("/sessions/{session_id:str}/unarchive", summary="Bring a session back", tags=["sessions"])
async def unarchive(service: TheService, session_id: Id) -> SessionInfo:
    return await service.archive(session_id, archived=False)


@post("/sessions/{session_id:str}/fork", summary="Branch a session off", tags=["sessions"])
async def fork(service: TheService, session_id: Id) -> SessionInfo:
    """The new session is live, and knows all that was said in this one."""
    return await service.fork(session_id)


@post(
    "/sessions/{session_id:str}/stop", summary="End a session", status_code=204, tags=["sessions"]
)
async def stop(service: TheService, session_id: Id, keep_commands: KeepCommands = False) -> None:
    """Its turn and its commands are stopped, and what was allowed for its duration is asked again.

    It stays in the archive and can be resumed. In one that is only saved there is nothing to end;
    409 if another program runs it.
    """
    await service.stop(session_id, keep_commands=keep_commands)


@get(
    "/sessions/{session_id:str}/entries",
    summary="What was said in a session, from a cursor on",
    tags=["sessions"],
)
async def entries(
    service: TheService, session_id: Id, after: After = 0, limit: Limit = 500
) -> Response[EntryPage]:
    """Oldest first. ``next`` is the ``after`` of the next page, null if there is none yet."""
    found = await service.entries(session_id, after=after, limit=limit + 1)
    page = [EntryInfo(each.seq, each.at, each.message) for each in found[:limit]]
    following = page[-1].seq if len(found) > limit else None
    return Response(EntryPage(page, following))


HANDLERS: list[Any] = [
    harnesses,
    sessions,
    start,
    session,
    rename,
    archive,
    unarchive,
    fork,
    stop,
    entries,
]
