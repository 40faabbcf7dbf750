"""``/api/v1/sessions`` and ``/api/v1/harnesses``: lists, starts, renames, archives, forks and stops sessions."""

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
    Models,
    RenameBody,
    SessionInfo,
    SessionPage,
    StartSession,
)
from dragoman.web.choosing import AGENT_SECONDS
from dragoman.web.service import TheService

Id = Annotated[str, PathParameter(max_length=200)]
Limit = Annotated[int, QueryParameter(ge=1, le=1_000, description="The most items to return.")]
After = Annotated[
    int, QueryParameter(ge=0, le=1 << 53, description="Return entries after this one.")
]
MaybeAfter = Annotated[
    int | None, QueryParameter(ge=0, le=1 << 53, description="Return entries after this one.")
]
Key = Annotated[
    str | None,
    HeaderParameter(
        name="Idempotency-Key",
        max_length=200,
        description="Repeating a request with the same key has no further effect.",
        examples=[Example(value="3f0c")],
    ),
]

KeepCommands = Annotated[
    bool,
    QueryParameter(
        description="Leave the session's commands running. They are stopped by default."
    ),
]


@get("/harnesses", summary="List agents and their capabilities", tags=["harnesses"])
async def harnesses(service: TheService) -> Harnesses:
    """Each with its release, sign-in state, and choices of access and asking."""
    await service.hub.connected(AGENT_SECONDS)
    return Harnesses(service.hub.harnesses())


@get("/harnesses/{name:str}/models", summary="List the models of an agent", tags=["harnesses"])
async def models(service: TheService, name: Id) -> Models:
    """Starts the agent if needed."""
    service.harness(name)
    return Models(await service.hub.models(name))


@get("/sessions", summary="List sessions, newest first", tags=["sessions"])
async def sessions(
    service: TheService,
    limit: Limit = 50,
    cursor: Annotated[str | None, QueryParameter(max_length=500)] = None,
    live: FromQuery[bool | None] = None,
    archived: FromQuery[bool | None] = None,
    project: Annotated[str | None, QueryParameter(max_length=4096)] = None,
) -> SessionPage:
    """Live and saved sessions. ``live=true`` returns only live ones."""
    page, following = await service.sessions(
        limit=limit, cursor=cursor, live=live, archived=archived, project=project
    )
    return SessionPage(page, following, shapes.indexing(service.archive_worker.indexing))


@post("/sessions", summary="Start or resume a session", tags=["sessions"])
async def start(
    service: TheService, data: JSONBody[StartSession], idempotency_key: Key = None
) -> SessionInfo:
    """``cwd`` must be within one of the roots that the server was started with."""
    session = await service.hub.start(
        cwd=service.hub.allowed(data.cwd),
        prompt=data.prompt,
        images=service.images(data.images),
        model=data.model,
        effort=data.effort,
        access=data.access if data.access is not None else data.sandbox,
        asking=data.asking if data.asking is not None else data.approvals,
        idempotency_key=idempotency_key,
        resume=data.resume,
        harness=await service.harness_for(data.harness, data.resume),
        title=await service.taken_up(data.resume),
    )
    return shapes.live(session)


@get("/sessions/{session_id:str}", summary="A session", tags=["sessions"])
async def session(service: TheService, session_id: Id) -> SessionInfo:
    return await service.session(session_id)


@patch("/sessions/{session_id:str}", summary="Rename a session", tags=["sessions"])
async def rename(service: TheService, session_id: Id, data: JSONBody[RenameBody]) -> SessionInfo:
    return await service.rename(session_id, data.title)


@post("/sessions/{session_id:str}/archive", summary="Archive a session", tags=["sessions"])
async def archive(service: TheService, session_id: Id) -> SessionInfo:
    return await service.archive(session_id, archived=True)


@post("/sessions/{session_id:str}/unarchive", summary="Unarchive a session", tags=["sessions"])
async def unarchive(service: TheService, session_id: Id) -> SessionInfo:
    return await service.archive(session_id, archived=False)


@post("/sessions/{session_id:str}/fork", summary="Fork a session", tags=["sessions"])
async def fork(service: TheService, session_id: Id) -> SessionInfo:
    """The new session is live and has the history of this one."""
    return await service.fork(session_id)


@post(
    "/sessions/{session_id:str}/stop", summary="End a session", status_code=204, tags=["sessions"]
)
async def stop(service: TheService, session_id: Id, keep_commands: KeepCommands = False) -> None:
    """Stops its turn and its commands, and ends permissions that were granted for the session.

    The session is kept and can be resumed. Has no effect on a saved session; 409 if another program
    runs it.
    """
    await service.stop(session_id, keep_commands=keep_commands)


@get(
    "/sessions/{session_id:str}/entries",
    summary="List the entries of a session",
    tags=["sessions"],
)
async def entries(
    service: TheService, session_id: Id, after: After = 0, limit: Limit = 500
) -> Response[EntryPage]:
    """Oldest first. Pass ``next`` as ``after`` to get the next page; null if there is none yet."""
    found = await service.entries(session_id, after=after, limit=limit + 1)
    page = [EntryInfo(each.seq, each.at, each.message) for each in found[:limit]]
    following = page[-1].seq if len(found) > limit else None
    return Response(EntryPage(page, following))


HANDLERS: list[Any] = [
    harnesses,
    models,
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
