"""Speaking to an agent: turns, steering, interrupting; approvals; the policy that decides about them."""

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
    summary="Ask the agent something",
    status_code=202,
    tags=["turns"],
)
async def start_turn(
    service: TheService, session_id: Id, data: JSONBody[StartTurnBody], idempotency_key: Key = None
) -> TurnAccepted:
    """What comes of it is told by the session's stream."""
    turn_id = await service.hub.run(
        service.spoken_to(session_id),
        data.text,
        images=service.images(data.images),
        model=data.model,
        effort=data.effort,
        sandbox=data.sandbox,
        approvals=data.approvals,
        idempotency_key=idempotency_key,
    )
    return TurnAccepted(turn_id)


@post(
    "/sessions/{session_id:str}/steer",
    summary="Say something to the agent while it works",
    status_code=204,
    tags=["turns"],
)
async def steer(service: TheService, session_id: Id, data: JSONBody[SteerBody]) -> None:
    """Until the agent takes it up it is among the session's ``steered``; if the turn ends first it is returned there."""
    session = service.spoken_to(session_id)
    await service.hub.steer(session, data.text, images=service.images(data.images))


@delete(
    "/sessions/{session_id:str}/steered/{steered_id:str}",
    summary="Let go of words that were returned",
    tags=["turns"],
)
async def drop_steered(service: TheService, session_id: Id, steered_id: Id) -> None:
    """For whoever has put them elsewhere, such as back into a text field. 404: somebody else was quicker."""
    if not await service.hub.take_back(service.spoken_to(session_id), steered_id):
        raise HTTPException("this is not there any more", status_code=404)


@post(
    "/sessions/{session_id:str}/interrupt",
    summary="Stop the turn",
    status_code=204,
    tags=["turns"],
)
async def interrupt(
    service: TheService, session_id: Id, keep_commands: KeepCommands = False
) -> None:
    """Its commands are stopped as well. A notice in the session names them."""
    await service.hub.interrupt(service.spoken_to(session_id), keep_commands=keep_commands)


@get("/approvals", summary="What agents ask, and nobody has answered yet", tags=["approvals"])
async def approvals(
    service: TheService, session_id: Annotated[str | None, QueryParameter(max_length=200)] = None
) -> Approvals:
    named = service.spoken_to(session_id) if session_id is not None else None
    return Approvals([shapes.approval(each) for each in service.hub.approvals(named)])


@get("/sessions/{session_id:str}/approvals", summary="The same, of a session", tags=["approvals"])
async def session_approvals(service: TheService, session_id: Id) -> list[ApprovalInfo]:
    found = service.hub.approvals(service.spoken_to(session_id))
    return [shapes.approval(each) for each in found]


@post("/approvals/{approval_id:str}", summary="Decide", status_code=204, tags=["approvals"])
async def decide(service: TheService, approval_id: Id, data: JSONBody[DecisionBody]) -> None:
    """404 if it is not open, or not open any more: somebody else was quicker, or the deadline."""
    is_open = service.hub.decide(
        approval_id,
        data.decision,
        session_id=service.spoken_to(data.session_id),
        message=data.message,
        answers=data.answers or None,
        content=data.content,
    )
    if not is_open:
        raise HTTPException("this is not open, or not open any more", status_code=404)


@get("/policy", summary="The rules that decide before anybody is asked", tags=["policy"])
async def policy(service: TheService) -> PolicyText:
    return PolicyText(service.hub.policy_text())


@put("/policy", summary="Other rules, from now on", tags=["policy"])
async def save_policy(service: TheService, data: JSONBody[PolicyText]) -> PolicyText:
    service.hub.save_policy(data.text)
    return PolicyText(service.hub.policy_text())


@post("/policy/try", summary="What rules would have said", status_code=200, tags=["policy"])
async def try_policy(service: TheService, data: JSONBody[PolicyText]) -> Verdicts:
    """To what was asked before, the newest first. Changes nothing."""
    return Verdicts([verdict(each) for each in service.hub.check_policy(data.text)])


@get("/policy/remembered", summary="What the agent itself remembers as allowed", tags=["policy"])
async def remembered(service: TheService) -> RememberedRulesInfo:
    """Written down by the agent when something was decided with ``allow_always``."""
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
    summary="Take such a rule away",
    status_code=204,
    tags=["policy"],
)
async def forget(service: TheService, rule_id: Id) -> None:
    """Sessions that are open keep it until they are resumed. 404 if there is no such rule (any more)."""
    if not service.hub.forget(rule_id):
        raise HTTPException("there is no such rule, or not any more", status_code=404)


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
