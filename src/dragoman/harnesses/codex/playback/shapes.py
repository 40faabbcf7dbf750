"""The smaller shapes of the app-server, made from messages: turns, threads, tokens, limits."""

from __future__ import annotations

import re
from typing import Any, Final

from dragoman.harnesses.codex.playback.release import RELEASE
from dragoman.harnesses.codex.versions import release_in
from dragoman.model.messages import RateLimits, SessionStarted, TurnError
from dragoman.model.usage import Usage

_WITH_DETAILS: Final = frozenset(
    (
        "httpConnectionFailed",
        "responseStreamConnectionFailed",
        "responseStreamDisconnected",
        "responseTooManyFailedAttempts",
    )
)
_STATUS: Final = re.compile(r"\b([45]\d\d)\b")


def turn_of(
    turn_id: str,
    status: str,
    *,
    error: TurnError | None = None,
    began_ms: int | None = None,
    ended_ms: int | None = None,
    last: dict[str, Any] | None = None,
    items: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """A turn. ``last`` is its last text, ``items`` are all of them, where they are asked for."""
    shown = items if items is not None else [last] if last else []
    view = "full" if items is not None else "summary" if last else "notLoaded"
    took = ended_ms - began_ms if ended_ms is not None and began_ms is not None else None
    return {
        "id": turn_id,
        "rootTurnId": turn_id,
        "items": shown,
        "itemsView": view,
        "status": status,
        "error": _error(error) if error else None,
        "startedAt": began_ms // 1000 if began_ms is not None else None,
        "completedAt": ended_ms // 1000 if ended_ms is not None else None,
        "durationMs": took,
    }


def _error(error: TurnError) -> dict[str, Any]:
    info: Any = error.native
    if error.native in _WITH_DETAILS:
        found = _STATUS.search(error.message)
        info = {error.native: {"httpStatusCode": int(found[1]) if found else None}}
        if error.kind == "response_error" and not found:
            info = {error.native: {"httpStatusCode": 400}}
    return {
        "message": error.message,
        "codexErrorInfo": info,
        "additionalDetails": None,
        "misalignment": None,
    }


def wire_usage(usage: Usage) -> dict[str, int]:
    return {
        "totalTokens": usage.total_tokens,
        "inputTokens": usage.input_tokens,
        "cachedInputTokens": usage.cached_input_tokens,
        "cacheWriteInputTokens": usage.cache_write_input_tokens,
        "outputTokens": usage.output_tokens,
        "reasoningOutputTokens": usage.reasoning_output_tokens,
    }


def rate_limits(limits: RateLimits) -> dict[str, Any]:
    shown: dict[str, Any] = {"limitId": "codex", "limitName": None, "normalModelSlug": None}
    shown |= {"primary": None, "secondary": None}
    for window in limits.windows:
        shown[window.name] = {
            "usedPercent": round(window.used_percent or 0),
            "windowDurationMins": None,
            "resetsAt": int(window.resets_at.timestamp()) if window.resets_at else None,
        }
    rest = ("credits", "individualLimit", "spendControlReached", "planType", "rateLimitReachedType")
    return {**shown, **dict.fromkeys(rest)}


def agent_thread(started: SessionStarted) -> dict[str, Any]:
    """The thread of a sub-agent."""
    moment = int(started.at.timestamp()) if started.at else 0
    return thread_of(
        started.session_id or "",
        started,
        cwd=started.cwd or "/",
        created_at=moment,
        parent=started.parent_session_id,
    )


def thread_of(
    thread_id: str,
    started: SessionStarted,
    *,
    cwd: str,
    created_at: int,
    parent: str | None = None,
    forked_from: str | None = None,
    preview: str = "",
    ephemeral: bool = False,
    turns: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """A thread, as ``thread/start``, ``thread/list`` and ``thread/read`` show it."""
    return {
        "id": thread_id,
        "environments": [{"environmentId": "local", "cwd": cwd, "runtimeWorkspaceRoots": [cwd]}],
        "extra": None,
        "sessionId": thread_id,
        "forkedFromId": forked_from,
        "parentThreadId": parent,
        "preview": preview,
        "ephemeral": ephemeral,
        "section": None,
        "sectionEnteredAt": None,
        "projectId": None,
        "historyMode": "paginated",
        "modelProvider": "recording",
        "model": started.model or "recorded",
        "reasoningEffort": None,
        "createdAt": created_at,
        "updatedAt": created_at,
        "recencyAt": created_at,
        "status": {"type": "idle"},
        "path": None,
        "cwd": cwd,
        "cliVersion": release_in(started.version) or RELEASE,
        "originator": "dragoman",
        "source": "vscode",
        "canAcceptDirectInput": True,
        "threadSource": None,
        "agentNickname": None,
        "agentRole": None,
        "gitInfo": None,
        "name": None,
        "daybreakEnabled": None,
        "turns": turns or [],
    }


def exec_usage(usage: Usage | None) -> dict[str, int] | None:
    """Tokens as ``codex exec`` prints them."""
    if usage is None:
        return None
    return {
        "input_tokens": usage.input_tokens,
        "cached_input_tokens": usage.cached_input_tokens,
        "cache_write_input_tokens": usage.cache_write_input_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_output_tokens": usage.reasoning_output_tokens,
    }
