"""The choices for a session: agents, actions, folders, models, and why an agent is unavailable."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from dragoman.archive.handoff import handing_off
from dragoman.errors import DragomanError
from dragoman.hub.hub import Choice, HarnessInfo
from dragoman.web.api.shapes import SessionInfo
from dragoman.web.page.rows import Act, Choices, HarnessChoices, Option, SessionRow
from dragoman.web.service import SessionService

AGENT_SECONDS: Final = 10.0
"""How long an answer that says what an agent offers waits for the agent of a server that has just started."""
_PATIENCE_SECONDS: Final = 1.0
_RUNNING: Final = ("running", "starting", "restarting")


async def choices(service: SessionService, sessions: list[SessionRow]) -> Choices:
    roots = [str(each) for each in service.hub.roots]
    used = [each.cwd for each in sessions if each.cwd and _is_inside(each.cwd, roots)]
    await service.hub.connected(AGENT_SECONDS)
    known = service.hub.harnesses()
    models = await asyncio.gather(*(_models(service, each) for each in known))
    return Choices(
        harnesses=[
            _choices(each, offered, sessions) for each, offered in zip(known, models, strict=True)
        ],
        folders=list(dict.fromkeys([*used, *roots]))[:50],
    )


def _choices(
    harness: HarnessInfo, models: Sequence[str], sessions: list[SessionRow]
) -> HarnessChoices:
    used = (each.model for each in sessions if each.model and each.harness == harness.name)
    return HarnessChoices(
        name=harness.name,
        title=harness.title,
        icon=harness.icon,
        status=_status(harness),
        problem=_problem(harness),
        models=list(dict.fromkeys([*models, *used])),
        access=[_option(each) for each in harness.access],
        asking=[_option(each) for each in harness.asking],
        efforts=harness.efforts,
        can_steer="steer" in harness.can or "queue" in harness.can,
        can_interrupt="interrupt" in harness.can,
        is_installed=not harness.problem,
    )


def _option(choice: Choice) -> Option:
    return Option(
        value=choice.value,
        label=choice.label,
        summary=choice.summary,
        is_full=choice.level == "full",
    )


def acts(service: SessionService, session: SessionInfo) -> list[Act]:
    """The actions on a whole session, as far as its agent supports them."""
    harness = service.harness_of(session)
    can = harness.can if harness is not None else ()
    found: list[Act] = ["unarchive"] if session.archived else ["rename", "archive"]
    fork: list[Act] = ["fork"] if "fork" in can else []
    if session.is_live:  # this server keeps its title and whether it is archived
        return [*found, *fork, "stop"]
    if harness is None:
        return []
    found = [act for act in found if _ABILITIES[act] in can]
    return found if session.archived or closed(service, session) else [*found, *fork]


def receivers(service: SessionService, session: SessionInfo) -> list[Option]:
    """The other agents of this server that the session can be handed off to."""
    if not session.cwd or not _is_inside(session.cwd, [str(each) for each in service.hub.roots]):
        return []
    able = {each.name for each in handing_off.receivers()}
    return [
        Option(value=each.name, label=each.title)
        for each in service.hub.harnesses()
        if each.name in able and each.name != session.harness and not each.problem
    ]


_ABILITIES: Final[dict[Act, str]] = {
    "rename": "rename",
    "archive": "archive",
    "unarchive": "archive",
}


def closed(service: SessionService, session: SessionInfo) -> str | None:
    """Why a session cannot be resumed, in a sentence."""
    if session.is_live:
        return None
    harness = service.harness_of(session)
    if harness is None:
        driven = ", ".join(each.title for each in service.hub.harnesses())
        return f"This server can resume only sessions of {driven}."
    if "resume" not in harness.can:
        return f"{harness.title} cannot resume sessions."
    if not _is_inside(session.cwd or "", [str(each) for each in service.hub.roots]):
        where = f"in {session.cwd}" if session.cwd else "in the folder of this session"
        return f"Agents may not work {where}. Allow the folder with `dragoman serve --root`."
    return None


def _problem(harness: HarnessInfo) -> str | None:
    if harness.problem:
        return f"{harness.title} cannot be started: {harness.problem}"
    if _needs_sign_in(harness):
        return f"{harness.title} is not signed in: run `{harness.sign_in_command}` in a terminal."
    return None


def _status(harness: HarnessInfo) -> str:
    if harness.problem:
        return "not available"
    signed = "not signed in" if _needs_sign_in(harness) else "signed in" * bool(harness.signed_in)
    return " · ".join(filter(None, (harness.version, signed))) or "installed"


def _needs_sign_in(harness: HarnessInfo) -> bool:
    return harness.needs_sign_in and not harness.signed_in


async def _models(service: SessionService, harness: HarnessInfo) -> Sequence[str]:
    """The models that an agent offers. A page neither starts an agent for that, nor waits for long."""
    if harness.state not in _RUNNING:
        return harness.models
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            return [model.id for model in await service.hub.models(harness.name)]
    except (TimeoutError, DragomanError):
        return harness.models


def _is_inside(path: str, roots: list[str]) -> bool:
    return any(path == root or path.startswith(root.rstrip("/") + "/") for root in roots)
