"""Endpoints for turns, steering and interrupting, for approvals, and for the policy."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import delete, get, post, put
from litestar.exceptions import HTTPException
from litestar.params import JSONBody, QueryParameter

from dragoman.web.api import shapes
from dragoman.web.api.sessions import Id, KeepCommands, Key
from dragoman.web.api.shapes import (
    ApprovalInfo,
    Approvals,
    DecisionBody,
    PolicyText,
    RememberedInfo,
    RememberedRulesInfo,
    StartTurnBody,
    SteerBody,
    TurnAccepted,
    VerdictInfo,
    Verdicts,
)
from dragoman.web.service import TheService


@post(
    "/sessions/{session_id:str}/turns",
    summary="Start a turn",
    status_code=202,
    tags=["turns"],
)
async def start_turn(
    service: TheService, session_id: Id, data: JSONBody[StartTurnBody], idempotency_key: Key = None
) -> TurnAccepted:
    """The session's stream reports the progress."""
    turn_id = await service.hub.run(
        service.spoken_to(session_id),
        data.text,
        images=service.images(data.images),
        model=data.model,
        effort=data.effort,
        access=data.access if data.access is not None else data.sandbox,
        asking=data.asking if data.asking is not None else data.approvals,
        idempotency_key=idempotency_key,
    )
    return TurnAccepted(turn_id)


@post(
    "/sessions/{session_id:str}/steer",
    summary="Steer the running turn",
    status_code=204,
    tags=["turns"],
)
async def steer(service: TheService, session_id: Id, data: JSONBody[SteerBody]) -> None:
    """The message is in the session's ``steered`` until the agent reads it, or is returned there if the turn ends first."""
    session = service.spoken_to(session_id)
    await service.hub.steer(session, data.text, images=service.images(data.images))


@delete(
    "/sessions/{session_id:str}/steered/{steered_id:str}",
    summary="Discard a returned message",
    tags=["turns"],
)
async def drop_steered(service: TheService, session_id: Id, steered_id: Id) -> None:
    """Call this after you put the text elsewhere, such as into an input field. 404: another client was first."""
    if not await service.hub.take_back(service.spoken_to(session_id), steered_id):
        raise HTTPException("this message was already taken", status_code=404)


@post(
    "/sessions/{session_id:str}/interrupt",
    summary="Interrupt the turn",
    status_code=204,
    tags=["turns"],
)
async def interrupt(
    service: TheService, session_id: Id, keep_commands: KeepCommands = False
) -> None:
    """Also stops its commands. A notice in the session lists them."""
    await service.hub.interrupt(service.spoken_to(session_id), keep_commands=keep_commands)


@get("/approvals", summary="List open approval requests", tags=["approvals"])
async def approvals(
    service: TheService, session_id: Annotated[str | None, QueryParameter(max_length=200)] = None
) -> Approvals:
    named = service.spoken_to(session_id) if session_id is not None else None
    return Approvals([shapes.approval(each) for each in service.hub.approvals(named)])


@get(
    "/sessions/{session_id:str}/approvals",
    summary="List open approval requests of a session",
    tags=["approvals"],
)
async def session_approvals(service: TheService, session_id: Id) -> list[ApprovalInfo]:
    found = service.hub.approvals(service.spoken_to(session_id))
    return [shapes.approval(each) for each in found]


@post("/approvals/{approval_id:str}", summary="Decide", status_code=204, tags=["approvals"])
async def decide(service: TheService, approval_id: Id, data: JSONBody[DecisionBody]) -> None:
    """404 if the request is not open: it was already settled, or its deadline passed."""
    is_open = service.hub.decide(
        approval_id,
        data.decision,
        session_id=service.spoken_to(data.session_id),
        message=data.message,
        answers=data.answers or None,
        content=data.content,
    )
    if not is_open:
        raise HTTPException("this request is not open", status_code=404)


@get("/policy", summary="Get the approval rules", tags=["policy"])
async def policy(service: TheService) -> PolicyText:
    return PolicyText(service.hub.policy_text())


@put("/policy", summary="Replace the approval rules", tags=["policy"])
async def save_policy(service: TheService, data: JSONBody[PolicyText]) -> PolicyText:
    service.hub.save_policy(data.text)
    return PolicyText(service.hub.policy_text())


@post("/policy/try", summary="Try rules on past requests", status_code=200, tags=["policy"])
async def try_policy(service: TheService, data: JSONBody[PolicyText]) -> Verdicts:
    """Newest first. Has no side effects."""
    return Verdicts([verdict(each) for each in service.hub.check_policy(data.text)])


@get("/policy/remembered", summary="List rules that the agent has stored", tags=["policy"])
async def remembered(service: TheService) -> RememberedRulesInfo:
    """The agent stores a rule for each ``allow_always`` decision."""
    return RememberedRulesInfo(
        [
            RememberedInfo(
                id=each.id,
                decision=each.decision,
                prefix=each.prefix,
                host=each.host,
                stored_in=each.stored_in,
                line=each.line,
            )
            for each in service.hub.remembered()
        ]
    )


@delete(
    "/policy/remembered/{rule_id:str}",
    summary="Remove a stored rule",
    status_code=204,
    tags=["policy"],
)
async def forget(service: TheService, rule_id: Id) -> None:
    """Open sessions keep the rule until they are resumed. 404 if the rule does not exist."""
    if not service.hub.forget(rule_id):
        raise HTTPException("this rule does not exist", status_code=404)


def verdict(tried: Any) -> VerdictInfo:
    request = tried.request
    return VerdictInfo(
        session_id=tried.session_id,
        seq=tried.seq,
        at=request.at,
        kind=request.kind,
        summary=request.summary,
        decision=tried.decision,
        rule=tried.by,
    )


HANDLERS: list[Any] = [
    start_turn,
    steer,
    drop_steered,
    interrupt,
    approvals,
    session_approvals,
    decide,
    policy,
    save_policy,
    try_policy,
    remembered,
    forget,
]
