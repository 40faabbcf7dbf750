"""``stream``: sessions as server-sent events; and the endpoint for chat components.

Without a ``format``, an event is an entry (``event: entry``, with its ``seq`` as id), a transient delta
(``event: delta``, without id) or a ``gap``. With a format, each event holds one line of that format.
``ai-sdk`` and ``ag-ui`` stream one turn, and end with it.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, cast

import msgspec
from litestar import get, post
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import FromQuery, HeaderParameter, JSONBody, QueryParameter
from litestar.response.base import ASGIResponse

from dragoman import export as formats
from dragoman.errors import UnknownFormat, UsageError
from dragoman.export import ai_sdk
from dragoman.web.api.sessions import Id, MaybeAfter
from dragoman.web.service import SessionService, TheService
from dragoman.web.streams import sse
from dragoman.web.streams.channels import Cursor
from dragoman.web.streams.exporting import caught_up, newest_turn
from dragoman.web.streams.saved_stream import SavedStream
from dragoman.web.streams.streaming import EventStream, Pipe

CHAT: Final = ("ai-sdk", "ag-ui")
_EVENTS: Final = {
    200: ResponseSpec(str, description="Events.", media_type="text/event-stream"),
    204: ResponseSpec(None, description="There is nothing to follow."),
}
Format = Annotated[
    str | None, QueryParameter(max_length=50, description="An export format. Entries by default.")
]


class LiveStream:
    """Sends the entries of a live session from a cursor on to one reader."""

    def __init__(
        self, service: SessionService, session_id: str, after: int, to: str | None
    ) -> None:
        self._service = service
        self._session_id = session_id
        self._after = after
        self._to = to

    async def __call__(self, pipe: Pipe) -> None:
        broadcasts = self._service.broadcasts
        async with broadcasts.reading(self._session_id) as channel, broadcasts.watched(pipe):
            await pipe.write(sse.retry(self._service.settings.retry_ms))
            cursor = Cursor(channel, self._after)
            if self._to is None:
                await pipe.follow(cursor, channel, broadcasts.turn)
                return
            hub = self._service.hub
            events = caught_up(hub, hub.get(self._session_id), self._to, cursor.seq)
            while not events.is_over and (some := await cursor.next(events.encode)) is not None:
                await pipe.write(some)
            await pipe.write(events.finish())


@get(
    "/sessions/{session_id:str}/stream",
    summary="Stream a session",
    tags=["streams"],
    responses=_EVENTS,
)
async def stream(
    service: TheService,
    session_id: Id,
    after: MaybeAfter = None,
    format: Format = None,
    last_event_id: Annotated[
        str | None, HeaderParameter(name="Last-Event-ID", max_length=50)
    ] = None,
) -> ASGIResponse:
    """Starts after ``after``, or after ``Last-Event-ID``, which takes precedence.

    A saved session is streamed to its end (``event: end``). While another program writes it, new entries
    follow. 204: there is nothing to follow.
    """
    if format is not None and formats.find(format) is None:
        raise UnknownFormat(format, [each.name for each in formats.FORMATS])
    place = _last_event_id(last_event_id)
    place = after if place is None else place
    live = service.live(session_id)
    if live is None:
        await service.session(session_id)
        followed = await service.archive_worker.follow(session_id, place or 0)
        if not await followed.has_more():
            followed.close()
            return ASGIResponse(status_code=204)
        saved = SavedStream(service, followed, session_id, format)
        return EventStream(saved, headers=_headers(format))
    if place is None and format in CHAT:
        # A chat component that reconnects gets the running turn from its start.
        if live.turn_id is None and live.state not in ("working", "waiting"):
            return ASGIResponse(status_code=204)
        place = newest_turn(service.hub, live)
    return EventStream(LiveStream(service, live.id, place or 0, format), headers=_headers(format))


def _headers(to: str | None) -> dict[str, str]:
    return {**sse.HEADERS, **(ai_sdk.HEADERS if to == "ai-sdk" else {})}


def _last_event_id(given: str | None) -> int | None:
    """The cursor that the browser sends back; values that are not ours are ignored."""
    if not given or not given.isascii() or not given.isdigit():
        return None
    return min(int(given), 1 << 53)


@get("/stream", summary="Stream changes of all sessions", tags=["streams"], responses=_EVENTS)
async def stream_sessions(service: TheService) -> ASGIResponse:
    """First ``event: sessions`` with all live sessions, then ``event: session`` for each change.

    ``event: saved_sessions`` holds the newest saved sessions, ``event: saved_session`` one that is new or
    changed, and ``event: saved_gone`` the ``id`` of one that was deleted or became live under another id.
    """

    async def pour(pipe: Pipe) -> None:
        sessions = service.broadcasts.sessions
        async with service.broadcasts.watched(pipe):
            await pipe.write(sse.retry(service.settings.retry_ms))
            with sessions.reading() as told:
                await pipe.pour(told)

    return EventStream(pour)


class ChatMessage(msgspec.Struct, frozen=True):
    """A message of a chat component: ``parts`` in the AI SDK, ``content`` in AG-UI."""

    role: str = ""
    content: Any = None
    parts: list[Any] = []


class Chat(msgspec.Struct, frozen=True):
    """The request of a chat component: the whole conversation. The last user message is the prompt."""

    messages: Annotated[list[ChatMessage], msgspec.Meta(min_length=1, max_length=10_000)]


@post(
    "/sessions/{session_id:str}/chat",
    summary="Run a turn for a chat component of the AI SDK or AG-UI",
    status_code=200,
    tags=["streams"],
    responses=_EVENTS,
)
async def chat(
    service: TheService,
    session_id: Id,
    data: JSONBody[Chat],
    format: FromQuery[Literal["ai-sdk", "ag-ui"]] = "ai-sdk",
) -> ASGIResponse:
    """Starts a turn with the last user message, or steers the running one; responds with its stream."""
    live = service.live(session_id)
    session = service.spoken_to(session_id)
    text = _asked(data)
    if live is not None and live.state in ("working", "waiting"):
        after = newest_turn(service.hub, live)
        await service.hub.steer(session, text)
    else:
        after = service.hub.get(session).last_seq
        await service.hub.run(session, text)
    return EventStream(LiveStream(service, session, after, format), headers=_headers(format))


def _asked(data: JSONBody[Chat]) -> str:
    last = next((each for each in reversed(data.messages) if each.role == "user"), None)
    if last is None:
        raise UsageError("the chat contains no user message")
    said: Any = last.content
    pieces = cast("list[Any]", said) if isinstance(said, list) else last.parts
    parts = [said] if isinstance(said, str) else []
    parts += [_text(each) for each in pieces]
    text = "\n".join(filter(None, parts)).strip()
    if not text:
        raise UsageError("the last user message is empty")
    return text


def _text(part: Any) -> str:
    known = cast("dict[str, Any]", part) if isinstance(part, dict) else {}
    return str(known.get("text", "")) if known.get("type") == "text" else ""


HANDLERS: list[Any] = [stream, stream_sessions, chat]
