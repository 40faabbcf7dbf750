"""What is tried: a program, how Dragoman drives it, how it is run by itself, and what it needs to ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from programs import PROGRAMS, RealProgram

from dragoman.rehearsal.agents.known import AgentName


@dataclass(frozen=True, kw_only=True)
class Subject:
    """One column of the tables."""

    name: str
    agent: AgentName
    """The agent that a rehearsal sets up for it."""
    harness: str | None = None
    """The harness that drives it; its own name by default."""
    free: Mapping[str, Any] = field(default_factory=lambda: {"access": "full"})
    """The authority under which nothing is asked."""
    asks: Mapping[str, Any] = field(default_factory=lambda: {"access": "write"})
    """The authority under which a command is asked about …"""
    asking: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """… with these settings of the agent …"""
    unset: tuple[str, ...] = ()
    """… and without these variables."""
    mcp: Callable[[list[str]], dict[str, Any]] | None = None
    """The settings that give it an MCP server with this command."""
    mcp_file: str | None = None
    """The file for them, within the home directory, if it is not that of the settings."""
    waits_for_agents: bool = True
    """Whether a call of a sub-agent returns with its answer."""
    run: Callable[[str], list[str]] | None = None
    """The arguments that answer one prompt; without them, it is never run by itself."""
    resumed: Callable[[str, str], list[str]] | None = None
    forked: Callable[[str, str], list[str]] | None = None

    @property
    def program(self) -> RealProgram:
        return PROGRAMS[self.name]


def _servers(**more: Any) -> Callable[[list[str]], dict[str, Any]]:
    def settings(command: list[str]) -> dict[str, Any]:
        server = {"command": command[0], "args": command[1:], **more}
        return {"mcpServers": {"tickets": server}}

    return settings


def _codex_server(command: list[str]) -> dict[str, Any]:
    return {"mcp_servers": {"tickets": {"command": command[0], "args": command[1:]}}}


def _opencode_server(command: list[str]) -> dict[str, Any]:
    return {"mcp": {"tickets": {"type": "local", "command": command, "enabled": True}}}


SUBJECTS: dict[str, Subject] = {
    each.name: each
    for each in (
        Subject(
            name="codex",
            agent="codex",
            free={"sandbox": "danger-full-access", "approvals": "never"},
            asks={"sandbox": "read-only", "approvals": "on-request"},
            mcp=_codex_server,
            waits_for_agents=False,
        ),
        Subject(
            name="claude",
            agent="claude",
            asks={"access": "default", "asking": "on-request"},
            asking={"permissions": {"defaultMode": "default"}},
            mcp=_servers(),
            mcp_file=".claude/.claude.json",
        ),
        Subject(
            name="gemini",
            agent="gemini",
            asking={"tools": {"allowed": []}},
            mcp=_servers(trust=True),
            run=lambda prompt: ["-o", "stream-json", "-p", prompt],
            resumed=lambda ident, prompt: ["-o", "stream-json", "--resume", ident, "-p", prompt],
        ),
        Subject(
            name="copilot",
            agent="copilot",
            unset=("COPILOT_ALLOW_ALL",),
            mcp=_servers(type="local", tools=["*"]),
            mcp_file=".copilot/mcp-config.json",
            run=lambda prompt: ["--output-format", "json", "-p", prompt],
            resumed=lambda ident, prompt: [
                *("--output-format", "json", f"--resume={ident}", "-p", prompt)
            ],
        ),
        Subject(
            name="qwen",
            agent="qwen",
            asking={"tools": {"approvalMode": "default"}},
            mcp=_servers(trust=True),
            run=lambda prompt: ["-o", "stream-json", "--include-partial-messages", prompt],
            resumed=lambda ident, prompt: ["-o", "stream-json", "--resume", ident, prompt],
            forked=lambda ident, prompt: [
                *("-o", "stream-json", "--resume", ident, "--fork-session", prompt)
            ],
        ),
        Subject(
            name="opencode",
            agent="opencode",
            asking={"permission": {"bash": "ask", "edit": "ask"}},
            mcp=_opencode_server,
            run=lambda prompt: ["run", "--format", "json", "--thinking", prompt],
            resumed=lambda ident, prompt: ["run", "--format", "json", "--session", ident, prompt],
            forked=lambda ident, prompt: [
                *("run", "--format", "json", "--session", ident, "--fork", prompt)
            ],
        ),
        Subject(
            name="claude-agent-acp",
            agent="claude",
            harness="acp",
            asking={"permissions": {"defaultMode": "default"}},
            mcp=_servers(),
            mcp_file=".claude/.claude.json",
        ),
        Subject(
            name="codex-acp",
            agent="codex",
            harness="acp",
            asks={"access": "read"},
            asking={"approval_policy": "on-request", "sandbox_mode": "read-only"},
            mcp=_codex_server,
            waits_for_agents=False,
        ),
    )
}
