"""A home directory for Codex, in which it knows no model but the stand-in one.

One configuration for all releases: a release ignores what it does not know. The provider needs
no login; the features that would look for updates, plugins or a place to send statistics are off.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dragoman.rehearsal.agents.homes import NotOurs, merged, past_proxies
from dragoman.rehearsal.agents.setup import AgentWishes
from dragoman.rehearsal.agents.toml import to_toml

MODEL = "gpt-5.5"
_SIGN = "# Written by a rehearsal; it will be written again.\n"


def settings(
    url: str, *, model: str | None = None, retries: int = 0, more: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The content of ``config.toml``; ``more`` overrides what a rehearsal chooses."""
    provider = {
        "name": "rehearsal",
        "base_url": url,
        "wire_api": "responses",
        "request_max_retries": retries,
        "stream_max_retries": retries,
    }
    return merged(
        {
            "model": model or MODEL,
            "model_provider": "rehearsal",
            "approval_policy": "never",
            "sandbox_mode": "danger-full-access",
            "check_for_update_on_startup": False,
            "model_providers": {"rehearsal": provider},
            "analytics": {"enabled": False},
            "features": {"plugins": False},
            "tools": {"update_plan": {"enabled": True}},
        },
        more or {},
    )


def write_home(folder: Path, config: Mapping[str, Any]) -> None:
    """Make the home directory, but never overwrite a real one."""
    path = folder / "config.toml"
    if path.exists() and not path.read_text(encoding="utf-8", errors="replace").startswith(_SIGN):
        raise NotOurs(path)
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(_SIGN + to_toml(config), encoding="utf-8")


class CodexSetup:
    """Codex, as a rehearsal sets it up."""

    name = "codex"

    def takes(self, model: str) -> bool:
        """Whether a model's name is that of one of its models: any that is clearly none of another agent's."""
        return not model.startswith(("claude", "gemini", "qwen"))

    def write_home(self, home: Path, wishes: AgentWishes) -> None:
        """Make the home directory, but never overwrite a real one."""
        config = settings(
            wishes.url, model=wishes.model, retries=wishes.retries, more=wishes.config
        )
        write_home(home, config)

    def variables(self, home: Path, wishes: AgentWishes) -> dict[str, str]:
        """The variables that lead the agent to the stand-in model."""
        return variables(home)

    def own_places(self, home: Path) -> dict[str, str]:
        """Its home directory is all that it uses."""
        return {}


def variables(folder: Path) -> dict[str, str]:
    """The environment variables that lead the agent there, and past any proxy."""
    return {"CODEX_HOME": str(folder), **past_proxies()}
