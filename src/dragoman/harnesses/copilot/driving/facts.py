"""What the server answers, in our words."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from dragoman.model.answers import AgentSession, AgentSessions, Model
from dragoman.wire.loose import as_dict, as_list, as_str
from dragoman.wire.moments import as_time


def models_in(result: dict[str, Any]) -> list[Model]:
    """The answer to ``models.list``."""
    return [
        Model(
            id=as_str(each.get("id")) or "",
            label=as_str(each.get("name")) or "",
            efforts=[str(effort) for effort in as_list(each.get("supportedReasoningEfforts"))],
            default_effort=as_str(each.get("defaultReasoningEffort")),
            native=each,
        )
        for each in map(as_dict, as_list(result.get("models")))
        if as_str(each.get("id"))
    ]


def sessions_in(result: dict[str, Any]) -> AgentSessions:
    """The answer to ``sessions.list``."""
    return AgentSessions(
        sessions=[
            AgentSession(
                id=as_str(each.get("sessionId")) or "",
                title=as_str(each.get("name")) or as_str(each.get("summary")),
                cwd=as_str(as_dict(each.get("context")).get("cwd")),
                created_at=_seconds(as_time(each.get("startTime"))),
                updated_at=_seconds(as_time(each.get("modifiedTime"))),
                native=each,
            )
            for each in map(as_dict, as_list(result.get("sessions")))
        ]
    )


def _seconds(moment: datetime | None) -> float | None:
    return moment.timestamp() if moment is not None else None
