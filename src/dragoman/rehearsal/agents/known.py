"""Every agent that a rehearsal can set up."""

from __future__ import annotations

from typing import Literal, TypeAlias

from dragoman.rehearsal.agents.claude import ClaudeSetup
from dragoman.rehearsal.agents.codex import CodexSetup
from dragoman.rehearsal.agents.described import COPILOT, GEMINI, OPENCODE, QWEN
from dragoman.rehearsal.agents.setup import AgentSetup

AgentName: TypeAlias = Literal["codex", "claude", "gemini", "copilot", "qwen", "opencode"]
SETUPS: dict[AgentName, AgentSetup] = {
    "codex": CodexSetup(),
    "claude": ClaudeSetup(),
    "gemini": GEMINI,
    "copilot": COPILOT,
    "qwen": QWEN,
    "opencode": OPENCODE,
}
AGENTS: tuple[AgentName, ...] = tuple(SETUPS)
"""All agents that a rehearsal can set up."""
USUAL_AGENTS: tuple[AgentName, ...] = ("codex", "claude")
"""Those that a command is set up for if no other is asked for."""
