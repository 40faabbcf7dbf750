"""The web front door on a real socket, with a hub that has no agent and an archive of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from litestar import Litestar

from dragoman.archive.api import SessionArchive
from dragoman.web.app import create_app
from dragoman.web.server import listen, serving
from dragoman.web.settings import Settings
from support.page.fake_hub import FakeHub

TOKEN = "t0ken-for-tests-t0ken-for-tests-t0ken"
SECONDS = 120


@dataclass
class Web:
    hub: FakeHub
    client: httpx.AsyncClient
    """Signed in, by the token."""
    port: int
    settings: Settings
    app: Litestar

    @property
    def guard(self) -> Any:
        return self.app.asgi_handler

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def anonymous(self, **headers: str) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=self.address, headers=headers, timeout=SECONDS)

    async def get(self, path: str, **given: Any) -> Any:
        response = await self.client.get(path, **given)
        assert response.status_code == 200, response.text
        return response.json()

    async def post(self, path: str, data: Any = None, **given: Any) -> httpx.Response:
        return await self.client.post(path, json=data, **given)


def open_archive(folder: Path) -> Callable[[], SessionArchive]:
    home = folder / "home"
    home.mkdir(exist_ok=True)
    return lambda: SessionArchive(home=home, cache=folder / "cache")


@asynccontextmanager
async def web_stage(
    folder: Path, *, archive: Callable[[], SessionArchive] | None = None, **settings: Any
) -> AsyncGenerator[Web]:
    root = folder / "root"
    root.mkdir(exist_ok=True)
    hub = FakeHub(root)
    on = listen("127.0.0.1", 0)
    try:
        made = Settings(token=TOKEN, port=on.getsockname()[1], **settings)
        app = create_app(hub, archive or open_archive(folder), made)
        async with serving(app, on, hang_up=app.state.hang_up):
            bearer = {"Authorization": f"Bearer {TOKEN}"}
            address = f"http://127.0.0.1:{made.port}"
            async with httpx.AsyncClient(
                base_url=address, headers=bearer, timeout=SECONDS
            ) as client:
                yield Web(hub, client, made.port, made, app)
    finally:
        on.close()


def play(story: Coroutine[Any, Any, None]) -> None:
    """Run a story to its end, or to the end of our patience."""

    async def bounded() -> None:
        async with asyncio.timeout(SECONDS):
            await story

    asyncio.run(bounded())


class Events:
    """The events of a stream, one by one."""

    def __init__(self, response: httpx.Response) -> None:
        self._lines = response.aiter_lines()

    async def next(self) -> dict[str, str]:
        """The next event; comments and bare ``retry`` are left out."""
        event: dict[str, str] = {}
        async for line in self._lines:
            if not line:
                if set(event) - {"retry"}:
                    return event
                event = {}
            elif not line.startswith(":"):
                name, _, value = line.partition(": ")
                event[name] = f"{event[name]}\n{value}" if name in event else value
        return event

    async def take(self, count: int) -> list[dict[str, str]]:
        return [await self.next() for _ in range(count)]

    async def line(self) -> str:
        return await anext(self._lines)
