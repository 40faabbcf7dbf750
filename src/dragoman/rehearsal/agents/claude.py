"""A home directory for Claude Code, in which it knows no model but the stand-in one.

Most of it is environment: the address of the model, a fake key, and no traffic that is not needed. The settings
allow everything without asking, like those of the other agents; a script can change that.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from dragoman.rehearsal.agents.homes import NotOurs, merged, past_proxies
from dragoman.rehearsal.agents.setup import AgentWishes

MODEL = "claude-sonnet-4-5-20250929"
_KEY = "fake"
_SIGN = "rehearsal.json"
_ELSEWHERE = (
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_CUSTOM_HEADERS",
    "ANTHROPIC_UNIX_SOCKET",
    "CLAUDE_CODE_ENABLE_TELEMETRY",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_CODE_SUBAGENT_MODEL",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_FOUNDRY",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDECODE",
)
"""Variables that lead the agent to another model or service, or make it refuse to start. They are emptied."""


def config_dir(home: Path) -> Path:
    """Where the agent keeps its settings and its sessions."""
    return home / ".claude"


def settings(more: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The content of ``settings.json``; ``more`` overrides what a rehearsal chooses."""
    return merged(
        {
            "permissions": {"defaultMode": "bypassPermissions"},
            "skipDangerousModePermissionPrompt": True,
        },
        more or {},
    )


def write_home(home: Path, config: Mapping[str, Any]) -> None:
    """Make the home directory, but never overwrite a real one."""
    folder = config_dir(home)
    sign = folder / _SIGN
    for name in ("settings.json", ".claude.json"):
        if (folder / name).exists() and not sign.exists():
            raise NotOurs(folder / name)
    folder.mkdir(parents=True, exist_ok=True)
    (home / "tmp").mkdir(exist_ok=True)
    _write(sign, {"about": "Written by a rehearsal, and overwritten by the next one."})
    _write(folder / "settings.json", config)
    # A user answers these questions once, at the first start.
    answered = {"approved": [_KEY], "rejected": []}
    state = folder / ".claude.json"
    if not state.exists():
        _write(state, {"hasCompletedOnboarding": True, "customApiKeyResponses": answered})


def variables(
    home: Path, url: str, *, model: str | None = None, retries: int = 0
) -> dict[str, str]:
    """The environment variables that lead the agent to the stand-in model, and nowhere else."""
    chosen = model or MODEL
    return {
        **{name: "" for name in _ELSEWHERE if name in os.environ},
        "CLAUDE_CONFIG_DIR": str(config_dir(home)),
        "CLAUDE_CODE_TMPDIR": str(home / "tmp"),
        "ANTHROPIC_BASE_URL": url.removesuffix("/v1"),
        "ANTHROPIC_API_KEY": _KEY,
        "ANTHROPIC_MODEL": chosen,
        "ANTHROPIC_DEFAULT_HAIKU_MODEL": chosen,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": str(retries),
        "IS_SANDBOX": "1",  # without it, root is refused the mode that never asks
        **past_proxies(),
    }


def own_places(home: Path) -> dict[str, str]:
    """More variables, for a command that is the agent itself: it uses no file of the user's home."""
    return {"HOME": str(home), "TMPDIR": str(home / "tmp")}


class ClaudeSetup:
    """Claude Code, as a rehearsal sets it up."""

    name = "claude"

    def takes(self, model: str) -> bool:
        """Whether a model's name is that of one of its models."""
        return model.startswith("claude")

    def write_home(self, home: Path, wishes: AgentWishes) -> None:
        """Make the home directory, but never overwrite a real one."""
        write_home(home, settings(wishes.config))

    def variables(self, home: Path, wishes: AgentWishes) -> dict[str, str]:
        """The variables that lead the agent to the stand-in model, and nowhere else."""
        return variables(home, wishes.url, model=wishes.model, retries=wishes.retries)

    def own_places(self, home: Path) -> dict[str, str]:
        """More variables, for a command that is the agent itself."""
        return own_places(home)


def _write(path: Path, value: Mapping[str, Any]) -> None:
    path.write_bytes(msgspec.json.format(msgspec.json.encode(value)) + b"\n")
