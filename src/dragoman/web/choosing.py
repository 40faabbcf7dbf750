"""What can be chosen for a session: acts, folders, models, and whether the agent can work at all."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from dragoman.errors import DragomanError
from dragoman.hub.hub import HarnessInfo
from dragoman.web.api.shapes import SessionInfo
from dragoman.web.office import Office
from dragoman.web.page.rows import Act, Choices, SessionRow

_PATIENCE_SECONDS: Final = 1.0


async def choices(office: Office, sessions: list[SessionRow]) -> Choices:
    roots = [str(each) for each in office.hub.roots]
    used = [each.cwd for each in sessions if each.cwd and _is_inside(each.cwd, roots)]
    harness = next(iter(office.hub.harnesses()), None)
    can: Sequence[str] = harness.can if harness is not None else ()
    models = [*await _models(office), *(each.model for each in sessions if each.model)]
    asking = harness.approval_modes if harness is not None else ()
    return Choices(
        models=list(dict.fromkeys(models)),
        approvals=asking or Choices().approvals,
        folders=list(dict.fromkeys([*used, *roots]))[:50],
        can_steer="steer" in can,
        can_interrupt="interrupt" in can,
        problem=_problem(harness),
    )


def acts(office: Office, session: SessionInfo) -> list[Act]:
    """What can be done with a session as a whole."""
    found: list[Act] = ["unarchive"] if session.archived else ["rename", "archive"]
    if session.is_live:
        return [*found, "fork", "stop"]
    if not office.drives(session):
        return []
    return found if session.archived or closed(office, session) else [*found, "fork"]


def closed(office: Office, session: SessionInfo) -> str | None:
    """Why nobody can go on with a session, in a sentence."""
    if session.is_live:
        return None
    if not office.drives(session):
        driven = ", ".join(each.title for each in office.hub.harnesses())
        return f"This session is not one of {driven}, which is what works here."
    if not _is_inside(session.cwd or "", [str(each) for each in office.hub.roots]):
        where = f"in {session.cwd}" if session.cwd else "where this session was"
        return f"Agents may not work {where}: `dragoman serve --root` names the folders where they may."
    return None


def _problem(harness: HarnessInfo | None) -> str | None:
    if harness is None:
        return None
    if harness.problem:
        return f"{harness.title} cannot be started: {harness.problem}"
    if harness.needs_sign_in and not harness.signed_in:
        return f"{harness.title} is not signed in: run `{harness.name} login` in a terminal."
    return None


async def _models(office: Office) -> list[str]:
    """Those that the harness offers. A page does not wait for an agent that does not answer."""
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            return [model.id for model in await office.hub.models()]
    except (TimeoutError, DragomanError):
        return []


def _is_inside(path: str, roots: list[str]) -> bool:
    return any(path == root or path.startswith(root.rstrip("/") + "/") for root in roots)
