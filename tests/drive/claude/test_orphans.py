"""Nothing of a real Claude is left when we are gone: not the agent, not its commands."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dragoman.client.connecting import connect
from dragoman.model.messages import ToolCall
from support.agents.fixtures import ClaudeEnv
from support.agents.live_claude import play
from support.agents.onlookers import marked, wait_until

_OURS = Path(__file__).parents[2] / "support" / "agents" / "our_claude.py"
_SCRIPT = """\
turns:
- - tool:
      name: Bash
      arguments: {command: "env -i setsid sleep 86417 & sleep 86418", run_in_background: true}
  - run: "while [ ! -e never ]; do sleep 0.05; done"
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")


def test_we_are_killed(claude_program: str, claude_env: ClaudeEnv, repo: Path) -> None:
    rehearsal, env = claude_env(_SCRIPT)
    ours = subprocess.Popen(
        [sys.executable, str(_OURS), claude_program, str(repo)], env=env, stdout=subprocess.PIPE
    )
    try:
        assert ours.stdout is not None
        assert ours.stdout.readline() == b"running\n"
        assert marked(str(rehearsal.claude_home))
    finally:
        ours.send_signal(signal.SIGKILL)
        ours.wait(10)
        assert ours.stdout is not None
        ours.stdout.close()
    wait_until(lambda: not marked(str(rehearsal.claude_home)), 20)
    wait_until(lambda: not _sleepers(), 20)


def test_the_block_is_left_in_the_middle_of_a_turn(
    claude_program: str, claude_env: ClaudeEnv, repo: Path
) -> None:
    async def story() -> None:
        rehearsal, env = claude_env(_SCRIPT)
        async with connect("claude", command=claude_program, env=env) as agent:
            session = await agent.start(cwd=repo, access="full")
            calls = 0
            async for message in session.run("work"):
                calls += isinstance(message, ToolCall)
                if calls == 2:
                    break
            assert marked(str(rehearsal.claude_home))
        assert not marked(str(rehearsal.claude_home))
        assert not _sleepers()

    play(story())


def _sleepers() -> list[str]:
    """The commands of the script that still run, whatever their environment says."""
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue  # it has just ended
        if words[:2] in ([b"sleep", b"86417"], [b"sleep", b"86418"]):
            found.append(path.parent.name)
    return found
