"""The choices for a session: actions, folders, models, and why the agent may be unavailable."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from dragoman.errors import DragomanError
from dragoman.hub.hub import HarnessInfo
from dragoman.web.api.shapes import SessionInfo
from dragoman.web.page.rows import Act, Choices, SessionRow
from dragoman.web.service import SessionService

_PATIENCE_SECONDS: Final = 1.0


async def choices(service: SessionService, sessions: list[SessionRow]) -> Choices:
    roots = [str(each) for each in service.hub.roots]
    used = [each.cwd for each in sessions if each.cwd and _is_inside(each.cwd, roots)]
    harness = next(iter(service.hub.harnesses()), None)
    can: Sequence[str] = harness.can if harness is not None else ()
    models = [*await _models(service), *(each.model for each in sessions if each.model)]
    asking = harness.approval_modes if harness is not None else ()
    return Choices(
        models=list(dict.fromkeys(models)),
        approvals=asking or Choices().approvals,
        folders=list(dict.fromkeys([*used, *roots]))[:50],
        can_steer="steer" in can,
        can_interrupt="interrupt" in can,
        problem=_problem(harness),
    )


def acts(service: SessionService, session: SessionInfo) -> list[Act]:
    """The actions on a whole session."""
    found: list[Act] = ["unarchive"] if session.archived else ["rename", "archive"]
    if session.is_live:
        return [*found, "fork", "stop"]
    if not service.drives(session):
        return []
    return found if session.archived or closed(service, session) else [*found, "fork"]


def closed(service: SessionService, session: SessionInfo) -> str | None:
    """Why a session cannot be resumed, in a sentence."""
    if session.is_live:
        return None
    if not service.drives(session):
        driven = ", ".join(each.title for each in service.hub.harnesses())
        return f"This server can resume only sessions of {driven}."
    if not _is_inside(session.cwd or "", [str(each) for each in service.hub.roots]):
        where = f"in {session.cwd}" if session.cwd else "in the folder of this session"
        return f"Agents may not work {where}. Allow the folder with `dragoman serve --root`."
    return None


def _problem(harness: HarnessInfo | None) -> str | None:
    if harness is None:
        return None
    if harness.problem:
        return f"{harness.title} cannot be started: {harness.problem}"
    if harness.needs_sign_in and not harness.signed_in:
        return f"{harness.title} is not signed in: run `{harness.name} login` in a terminal."
    return None


async def _models(service: SessionService) -> list[str]:
    """The models that the agent offers, with a time limit: a page must not wait for a stuck agent."""
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            return [model.id for model in await service.hub.models()]
    except (TimeoutError, DragomanError):
        return []


def _is_inside(path: str, roots: list[str]) -> bool:
    return any(path == root or path.startswith(root.rstrip("/") + "/") for root in roots)
