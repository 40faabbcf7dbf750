"""The threads of a played server: how far each has come, and how clients are shown them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, Final

from dragoman.harnesses.codex.playback.script import PlaybackScript
from dragoman.harnesses.codex.playback.shapes import thread_of
from dragoman.harnesses.codex.playback.turns import PlaybackStep, TurnWriter
from dragoman.harnesses.codex.values.loose import as_dict, as_str

_KINDS: Final = {
    "read-only": "readOnly",
    "workspace-write": "workspaceWrite",
    "danger-full-access": "dangerFullAccess",
}


@dataclass(slots=True)
class PlayedThread:
    id: str
    cwd: str
    writer: TurnWriter
    ephemeral: bool = False
    forked_from: str | None = None
    played: int = 0
    turn_id: str | None = None
    """The turn that runs."""
    steps: deque[PlaybackStep] = field(default_factory=deque[PlaybackStep])
    next_at: float = 0.0
    waits_for: int | None = None
    """The request of ours that must be answered before the turn continues."""


def shown_thread(
    script: PlaybackScript, thread: PlayedThread | None, *, turns: bool
) -> dict[str, Any]:
    """A thread with what has been played in it; None is the recording itself, with all its turns."""
    played = thread.played - (thread.turn_id is not None) if thread else len(script.turns)
    thread_id = thread.id if thread else script.thread_id
    cwd = thread.cwd if thread else script.cwd
    return thread_of(
        thread_id,
        script.started,
        cwd=cwd,
        created_at=script.created_at,
        forked_from=thread.forked_from if thread else None,
        preview=script.preview if played else "",
        ephemeral=thread.ephemeral if thread else False,
        turns=script.past(played, thread_id, cwd) if turns else [],
    )


def opened(thread: dict[str, Any], cwd: str, params: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request that opens a thread. Nothing is executed: all settings are confirmed."""
    sandbox = as_str(params.get("sandbox")) or "danger-full-access"
    policy: dict[str, Any] = {"type": _KINDS.get(sandbox, sandbox)}
    if sandbox != "danger-full-access":
        settings = as_dict(as_dict(params.get("config")).get("sandbox_workspace_write"))
        policy["networkAccess"] = settings.get("network_access") is True
    if sandbox == "workspace-write":
        policy |= {"writableRoots": [], "excludeTmpdirEnvVar": False, "excludeSlashTmp": False}
    return {
        "thread": thread,
        "model": as_str(params.get("model")) or thread["model"],
        "modelProvider": thread["modelProvider"],
        "serviceTier": None,
        "disabledPluginIds": [],
        "cwd": cwd,
        "runtimeWorkspaceRoots": [cwd],
        "instructionSources": [],
        "approvalPolicy": params.get("approvalPolicy") or "never",
        "approvalsReviewer": "user",
        "sandbox": policy,
        "activePermissionProfile": None,
        "reasoningEffort": None,
        "multiAgentMode": "explicitRequestOnly",
    }
