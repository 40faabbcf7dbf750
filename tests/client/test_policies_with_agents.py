"""A policy file and the real program: what is allowed runs, and nothing else does."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Callable
from pathlib import Path

from dragoman.model.messages import ApprovalRequested, ApprovalSettled, Message
from support.agents.stages import SECONDS, Stage

MakeStage = Callable[..., Stage]
_POLICY = """
[[rule]]
name = "status"
command = "git status"
decision = "allow"
"""


def test_a_command_is_allowed_where_the_session_works_and_not_where_the_model_says(
    stage: MakeStage, repo: Path, tmp_path: Path
) -> None:
    """The other directory's own settings make ``git status`` run a program of theirs."""
    evil, ran = tmp_path / "evil", tmp_path / "ran"
    hook, policy = tmp_path / "hook", tmp_path / "policy.toml"
    policy.write_text(_POLICY, encoding="utf-8")
    hook.write_text(f"#!/bin/sh\ntouch {ran}\n", encoding="utf-8")
    hook.chmod(0o755)
    for place in (repo, evil):
        subprocess.run(["git", "init", "-q", str(place)], check=True)
    subprocess.run(["git", "-C", str(evil), "config", "core.fsmonitor", str(hook)], check=True)
    script = f"""
- run: {{command: git status, escalate: I need it}}
- run: {{command: git status, escalate: I need it, workdir: {evil}}}
- run: {{command: git status; touch {ran}, escalate: I need it}}
- say: Done.
"""

    async def story() -> list[Message]:
        play = stage(script)
        async with asyncio.timeout(SECONDS), play.connect(policy=policy) as codex:
            session = await codex.start(cwd=repo, sandbox="read-only", approvals="on-request")
            return [message async for message in session.run("Look")]

    told = asyncio.run(story())

    asked = [each.cwd for each in told if isinstance(each, ApprovalRequested)]
    settled = [each.decision for each in told if isinstance(each, ApprovalSettled)]
    assert asked == [str(repo), str(evil), str(repo)]
    assert settled == ["allow", "deny", "deny"]
    assert not ran.exists()
