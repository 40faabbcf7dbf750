"""Assembles the application: handlers, error responses, the OpenAPI document, and the guard around them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import msgspec
from litestar import Litestar, Request, Router, get
from litestar.di import Provide
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme
from litestar.plugins import PluginProtocol
from litestar.plugins.core import MsgspecDIPlugin
from litestar.types import ASGIApp

from dragoman.about import VERSION
from dragoman.archive.api import SessionArchive
from dragoman.hub.hub import Hub
from dragoman.web import pages
from dragoman.web.api import archive as api_archive
from dragoman.web.api import commands, fragments, handoff, login, sessions, shapes, streams, turns
from dragoman.web.api import openapi as documenting
from dragoman.web.api.errors import HANDLERS
from dragoman.web.archive_worker import ArchiveWorker
from dragoman.web.guarding import Guard
from dragoman.web.ranges import SessionRanges
from dragoman.web.service import SessionService
from dragoman.web.settings import Settings
from dragoman.web.streams.saved_list import SavedList
from dragoman.web.turn_index import TurnMarks

_PARTS = (login, sessions, handoff, turns, commands, streams, api_archive, fragments)


@get("/openapi.json", include_in_schema=False)
async def openapi(request: Request[Any, Any, Any]) -> dict[str, Any]:
    """The OpenAPI document."""
    return documenting.complete(request.app.openapi_schema.to_schema(), _types())


def _types() -> list[type]:
    """The request and response types of the API."""
    parts = (shapes, handoff, commands, streams)
    return [
        each
        for part in parts
        for each in vars(part).values()
        if isinstance(each, type) and issubclass(each, msgspec.Struct) and each.__struct_fields__
    ]


class _Litestar(Litestar):
    """Without what supports pydantic and attrs: importing those takes a quarter of the start, where they are installed."""

    @staticmethod
    def _get_default_plugins(plugins: list[PluginProtocol]) -> list[PluginProtocol]:
        return [*plugins, MsgspecDIPlugin()]


def create_app(
    hub: Hub, archive: Callable[[], SessionArchive], settings: Settings | None = None
) -> Litestar:
    """Create the application. ``archive`` opens the saved sessions, in the thread that will use them."""
    settings = settings if settings is not None else Settings()
    service = SessionService(hub, ArchiveWorker(archive), settings)
    ranges = SessionRanges(service)
    marks = TurnMarks(service, ranges)
    saved = SavedList(hub, service.archive_worker, service.broadcasts.sessions)

    @asynccontextmanager
    async def lifespan(_app: Litestar) -> AsyncGenerator[None]:
        async with service.broadcasts.open(), saved.open():
            yield
        await service.archive_worker.close()

    def given(value: object) -> Provide:
        return Provide(lambda: value, sync_to_thread=False)

    handlers: list[Any] = [openapi, *(each for part in _PARTS for each in part.HANDLERS)]
    app = _Litestar(
        route_handlers=[
            Router("/api/v1", route_handlers=handlers),
            Router("/", route_handlers=pages.HANDLERS, exception_handlers=pages.PROBLEMS),
        ],
        dependencies={
            "service": given(service),
            "marks": given(marks),
            "ranges": given(ranges),
        },
        exception_handlers=HANDLERS,
        lifespan=[lifespan],
        request_max_body_size=settings.max_body,
        openapi_config=OpenAPIConfig(
            title="Dragoman",
            version=VERSION,
            description="Live and saved sessions of coding agents.",
            # The framework serves a page for any path below this one, so keep it out of the way.
            path="/api/v1/openapi",
            render_plugins=[JsonRenderPlugin(path="/")],
            operation_id_creator=documenting.name_of,
            security=[{"token": []}],
            components=Components(
                security_schemes={"token": SecurityScheme(type="http", scheme="bearer")}
            ),
        ),
        logging_config=None,
    )
    app.state.hang_up = service.broadcasts.hang_up
    # The guard wraps the whole application, because unknown routes must be guarded too.
    app.asgi_handler = cast("ASGIApp", Guard(app.asgi_handler, settings, hub.peer))
    return app
