"""``fragments``: ranges of a session as HTML, which the page loads while scrolling."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import get
from litestar.di import NamedDependency
from litestar.exceptions import HTTPException
from litestar.params import PathParameter, QueryParameter

from dragoman.web.api.sessions import Id
from dragoman.web.api.shapes import FragmentInfo, SessionTurn
from dragoman.web.ranges import SessionRanges, drawn
from dragoman.web.service import TheService
from dragoman.web.turn_index import TurnMarks

Place = Annotated[int | None, QueryParameter(ge=-(1 << 53), le=1 << 53)]


@get(
    "/sessions/{session_id:str}/fragments",
    summary="List entries of a session as HTML",
    tags=["page"],
)
async def session_fragments(
    service: TheService,
    ranges: NamedDependency[SessionRanges],
    session_id: Id,
    after: Place = None,
    before: Place = None,
    limit: Annotated[int, QueryParameter(ge=1, le=500)] = 100,
) -> list[FragmentInfo]:
    """The entries after ``after``, or the last ones before ``before``.

    Negative numbers refer to entries from before this server opened the session.
    """
    found = await service.session(session_id)
    if after is None and before is not None:
        said = await ranges.before(found, before, limit)
    else:
        said = await ranges.after(found, after or 0, limit)
    return [FragmentInfo(each.seq, each.html) for each in drawn(said)]


@get(
    "/sessions/{session_id:str}/turns/{number:int}",
    summary="Find a turn by its number",
    tags=["turns"],
)
async def find_turn(
    service: TheService,
    marks: NamedDependency[TurnMarks],
    session_id: Id,
    number: Annotated[int, PathParameter(ge=1, le=1 << 53)],
) -> SessionTurn:
    """404 if the session has fewer turns."""
    found = await marks.of(await service.session(session_id))
    if number > len(found):
        raise HTTPException(f"this session has {len(found)} turns", status_code=404)
    return SessionTurn(number=number, **found[number - 1]._asdict())


HANDLERS: list[Any] = [session_fragments, find_turn]
