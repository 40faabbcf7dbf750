"""Other programs as clients: the official library, and two real agents that look up an earlier session."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import TextContent

from dragoman.rehearsal import Rehearsal
from support.agents.fixtures import ClaudeEnv

_RUNS = Path(__file__).parents[1] / "data" / "codex" / "runs"
_DRAGOMAN = str(Path(sys.executable).with_name("dragoman"))
_SECONDS = 60
_SCRIPT = """\
turns:
- when: remember
  steps:
  - say: The blue door squeaks.
- when: look
  steps:
  - mcp: {server: history, tool: search_sessions, arguments: {query: squeaks}}
  - mcp: {server: history, tool: list_sessions, arguments: {}}
  - say: Found it.
"""


def test_the_official_client_finds_and_reads_a_session(tmp_path: Path) -> None:
    async def work() -> tuple[list[str], str, bool]:
        server = StdioServerParameters(
            command=_DRAGOMAN,
            args=["mcp", "--path", str(_RUNS / "0.142.0")],
            env={**os.environ, "DRAGOMAN_CACHE": str(tmp_path)},
        )
        async with stdio_client(server) as pipes, ClientSession(*pipes) as session:
            await session.initialize()
            names = [tool.name for tool in (await session.list_tools()).tools]
            listed = await session.call_tool("list_sessions", {"limit": 1})
            assert listed.structured_content is not None
            ident = listed.structured_content["sessions"][0]["session_id"]
            read = await session.call_tool("read_session", {"session_id": ident})
            wrong = await session.call_tool("read_session", {"session_id": ""})
            [block] = read.content
            assert isinstance(block, TextContent)
            return names, block.text, bool(wrong.is_error)

    names, text, is_wrong = asyncio.run(asyncio.wait_for(work(), _SECONDS))

    assert "read_session" in names
    assert text.startswith("## Turn 1")
    assert is_wrong


def _found(stage: Rehearsal) -> tuple[list[str], list[str]]:
    """The sessions that the search found, and those that were listed."""
    outputs = [each for each in stage.requests[-1].outputs if "{" in each]
    first, second = (json.JSONDecoder().raw_decode(each[each.index("{") :])[0] for each in outputs)
    matches = [each["session_id"] for each in first["matches"]]
    return matches, [each["session_id"] for each in second["sessions"]]


def test_codex_finds_an_earlier_session_and_not_its_own(
    codex_program: str, rehearsal: Callable[[str], Rehearsal], tmp_path: Path
) -> None:
    stage = rehearsal(_SCRIPT)
    home = f'env={{CODEX_HOME="{stage.home}", HOME="{tmp_path}", DRAGOMAN_CACHE="{tmp_path}/c"}}'
    settings = (f'command="{_DRAGOMAN}"', 'args=["mcp"]', 'default_tools_approval_mode="approve"')
    words = [word for each in (*settings, home) for word in ("-c", f"mcp_servers.history.{each}")]
    for prompt in ("remember this", "look it up"):
        done = subprocess.run(
            [codex_program, "exec", "--skip-git-repo-check", *words, prompt],
            env=stage.environ,
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()
    sessions = sorted(Path(stage.home).rglob("rollout-*.jsonl"), key=lambda path: path.name)
    assert len(sessions) == 2

    matches, listed = _found(stage)

    assert matches
    assert {*matches, *listed} == {sessions[0].stem[-36:]}


def test_claude_finds_an_earlier_session_and_not_its_own(
    claude_program: str, claude_env: ClaudeEnv, tmp_path: Path
) -> None:
    stage, env = claude_env(_SCRIPT)
    (tmp_path / "mcp.json").write_text(
        json.dumps({"mcpServers": {"history": {"command": _DRAGOMAN, "args": ["mcp"]}}}),
        encoding="utf-8",
    )
    allowed = ("--mcp-config", "mcp.json", "--allowedTools", "mcp__history")
    identities: list[str] = []
    for prompt in ("remember this", "look it up"):
        done = subprocess.run(
            [claude_program, "-p", "--output-format", "json", *allowed, "--", prompt],
            env={**env, "DRAGOMAN_CACHE": str(tmp_path / "c")},
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()
        identities.append(json.loads(done.stdout)["session_id"])

    matches, listed = _found(stage)

    assert matches
    assert {*matches, *listed} == {identities[0]}
