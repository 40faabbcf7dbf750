"""What the app-server answers to questions, in the words that every harness shares."""

from __future__ import annotations

from typing import Any, Final

from dragoman.harnesses.codex.values.loose import as_dict, as_list, as_str
from dragoman.harnesses.codex.values.rate_limits import rate_windows
from dragoman.model.answers import (
    AccountLimits,
    AgentAccount,
    AgentSession,
    AgentSessions,
    AgentTurn,
    Model,
)
from dragoman.model.messages import Outcome

OUTCOMES: Final[dict[str, Outcome]] = {
    "completed": "completed",
    "failed": "failed",
    "interrupted": "interrupted",
}
_ACCOUNT_KINDS: Final = {"apiKey": "api_key", "chatgpt": "subscription"}


def account(told: dict[str, Any]) -> AgentAccount:
    """``account`` in the answer to ``account/read``."""
    kind = as_str(told.get("type")) or "unknown"
    return AgentAccount(
        kind=_ACCOUNT_KINDS.get(kind, kind),
        name=as_str(told.get("email")),
        plan=as_str(told.get("planType")),
        native=told,
    )


def models(result: dict[str, Any]) -> list[Model]:
    """The answer to ``model/list``, without the models that are not shown to people."""
    listed = [as_dict(each) for each in as_list(result.get("data"))]
    named = [(as_str(each.get("model")) or as_str(each.get("id")), each) for each in listed]
    return [_model(name, each) for name, each in named if name and not each.get("hidden")]


def _model(name: str, told: dict[str, Any]) -> Model:
    efforts = [
        as_str(as_dict(each).get("reasoningEffort")) or as_str(each)
        for each in as_list(told.get("supportedReasoningEfforts"))
    ]
    return Model(
        id=name,
        label=as_str(told.get("displayName")) or name,
        description=as_str(told.get("description")) or "",
        efforts=[each for each in efforts if each],
        default_effort=as_str(told.get("defaultReasoningEffort")),
        is_default=told.get("isDefault") is True,
        native=told,
    )


def sessions(result: dict[str, Any]) -> AgentSessions:
    """The answer to ``thread/list``."""
    return AgentSessions(
        sessions=[session(as_dict(each)) for each in as_list(result.get("data"))],
        cursor=as_str(result.get("nextCursor")),
    )


def session(thread: dict[str, Any]) -> AgentSession:
    """A thread, as lists and ``thread/read`` describe it."""
    return AgentSession(
        id=as_str(thread.get("id")) or "",
        title=as_str(thread.get("name")),
        preview=as_str(thread.get("preview")),
        cwd=as_str(thread.get("cwd")),
        path=as_str(thread.get("path")),
        created_at=_seconds(thread.get("createdAt")),
        updated_at=_seconds(thread.get("updatedAt")),
        parent_session_id=as_str(thread.get("parentThreadId"))
        or as_str(thread.get("forkedFromId")),
        turns=[_turn(as_dict(each)) for each in as_list(thread.get("turns"))],
        native=thread,
    )


def _turn(told: dict[str, Any]) -> AgentTurn:
    return AgentTurn(
        id=as_str(told.get("id")),
        outcome=OUTCOMES.get(as_str(told.get("status")) or ""),
        items=len(as_list(told.get("items"))),
        native=told,
    )


def limits(result: dict[str, Any]) -> AccountLimits:
    """The answer to ``account/rateLimits/read``."""
    told = as_dict(result.get("rateLimits"))
    return AccountLimits(
        windows=rate_windows(told, None), plan=as_str(told.get("planType")), native=result
    )


def _seconds(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)
