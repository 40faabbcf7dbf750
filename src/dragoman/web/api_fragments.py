"""``fragments``: stretches of a session as HTML, for the page, which asks for them as one scrolls."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import get
from litestar.params import QueryParameter

from dragoman.web.api_sessions import Id, MaybeAfter
from dragoman.web.office import TheOffice
from dragoman.web.page.fragments import fragments
from dragoman.web.shapes import FragmentInfo


@get(
    "/sessions/{session_id:str}/fragments",
    summary="What was said in a session, as pieces of a page",
    tags=["page"],
)
async def session_fragments(
    office: TheOffice,
    session_id: Id,
    after: MaybeAfter = None,
    before: MaybeAfter = None,
    limit: Annotated[int, QueryParameter(ge=1, le=500)] = 100,
) -> list[FragmentInfo]:
    """The entries that follow ``after``, or the last ones before ``before``."""
    found = await office.session(session_id)
    entries = await office.entries(
        session_id, after=after or 0, before=before if after is None else None, limit=limit
    )
    pieces = fragments(entries, found.native_id or found.id)
    return [FragmentInfo(each.seq, each.html) for each in pieces]


HANDLERS: list[Any] = [session_fragments]
