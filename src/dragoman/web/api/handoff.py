"""``POST /api/v1/sessions/{id}/handoff``: hands a session off to another agent."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from litestar import post
from litestar.params import JSONBody
from msgspec import Meta

from dragoman.archive.handoff.handing_off import Handoff
from dragoman.web.api.sessions import Id, Key
from dragoman.web.api.shapes import Name
from dragoman.web.service import TheService


class HandoffBody(msgspec.Struct, frozen=True, kw_only=True):
    """Which agent continues a session, and with what."""

    to: Name
    """The agent, such as `claude`."""
    turns: Annotated[str, Meta(min_length=1, max_length=50)] | None = None
    """Only these turns: `3`, `3..`, `..5`, `2..4`, or `-2..` for the last two."""
    cwd: Annotated[str, Meta(min_length=1, max_length=4096)] | None = None
    """The directory of the new session, within a root of the server; by default, that of the old one."""


class LossInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Content that the new session lacks, or has in another form."""

    kind: str
    count: int
    detail: str
    tools: list[str]
    """The tools concerned."""
    kept: bool
    """Whether it is there in another form."""


class HandoffInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A new saved session of another agent."""

    session_id: str
    """Pass it as `resume` to `POST /sessions` to continue."""
    harness: str
    title: str
    """What the agent is called."""
    cwd: str
    source_session_id: str
    turns: int
    tool_calls: int
    losses: list[LossInfo]
    command: list[str]
    """How to continue in the agent's own interface, in `cwd`."""


@post("/sessions/{session_id:str}/handoff", summary="Hand a session off", tags=["sessions"])
async def handoff(
    service: TheService, session_id: Id, data: JSONBody[HandoffBody], idempotency_key: Key = None
) -> HandoffInfo:
    """Writes the conversation as a new saved session of another agent. The session itself stays as it is."""
    request = msgspec.json.encode((session_id, data))

    async def make() -> str:
        done = await service.hand_off(session_id, to=data.to, turns=data.turns, cwd=data.cwd)
        return msgspec.json.encode(_info(done)).decode()

    made = await service.hub.once(idempotency_key, request, make)
    return msgspec.json.decode(made, type=HandoffInfo)


def _info(done: Handoff) -> HandoffInfo:
    return HandoffInfo(
        session_id=done.session_id,
        harness=done.harness,
        title=done.title,
        cwd=done.cwd,
        source_session_id=done.source_session_id,
        turns=done.turns,
        tool_calls=done.tool_calls,
        losses=[
            LossInfo(
                kind=each.kind,
                count=each.count,
                detail=each.detail,
                tools=list(each.names),
                kept=each.kept,
            )
            for each in done.losses
        ],
        command=list(done.native_command),
    )


HANDLERS: list[Any] = [handoff]
