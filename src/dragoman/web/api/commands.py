"""``/api/v1/sessions/{id}/commands``: lists and stops the running commands of a session."""

from __future__ import annotations

from typing import Any

import msgspec
from litestar import get, post

from dragoman.hub.hub import RunningCommand
from dragoman.web.api.sessions import Id
from dragoman.web.service import TheService


class Commands(msgspec.Struct, frozen=True):
    """The running commands of a session."""

    commands: list[RunningCommand]


class StoppedCommands(msgspec.Struct, frozen=True):
    """The commands of a session that were stopped."""

    stopped: list[RunningCommand]


@get(
    "/sessions/{session_id:str}/commands",
    summary="List the running commands of a session",
    tags=["commands"],
)
async def commands(service: TheService, session_id: Id) -> Commands:
    """During a turn and after it. A saved session that is not live has none."""
    found = service.live(session_id)
    if found is None:
        await service.session(session_id)  # 404 if it does not exist
        return Commands([])
    return Commands(service.hub.commands(found.id))


@post(
    "/sessions/{session_id:str}/commands/stop",
    summary="Stop the running commands of a session",
    status_code=200,
    tags=["commands"],
)
async def stop_commands(service: TheService, session_id: Id) -> StoppedCommands:
    """Sends SIGTERM, then SIGKILL after a second. The turn continues; other sessions keep their commands.

    A notice in the session lists the stopped commands.
    """
    return StoppedCommands(await service.hub.stop_commands(service.spoken_to(session_id)))


HANDLERS: list[Any] = [commands, stop_commands]
