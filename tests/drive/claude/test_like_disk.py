"""What the real Claude emits live is what its session file holds, but for the limits."""

from __future__ import annotations

from pathlib import Path

import dragoman
from dragoman.harnesses import harness
from dragoman.model import intents
from dragoman.model.messages import SessionStarted, ToolCall, TurnEnded
from dragoman.testing.likeness import differences
from support.agents.fixtures import ClaudeEnv
from support.agents.live_claude import LiveClaude, live_claude, play


def _assert_like_disk(claude: LiveClaude, home: Path) -> None:
    found = list(home.glob(f".claude/projects/*/{claude.session_id}.jsonl"))
    assert len(found) == 1, found
    versions = [m.version for m in claude.messages if isinstance(m, SessionStarted) and m.version]
    limits = [
        limit
        for limit in harness("claude").limits
        for dialect in ("claude-stream-json", "claude-transcript")
        if limit.applies(dialect, versions[0])
    ]
    own = [m for m in claude.messages if m.session_id == claude.session_id]
    disk = [m for m in dragoman.read(found[0]) if m.session_id == claude.session_id]
    assert differences(dragoman.fold(own), dragoman.fold(disk), limits) == []


def _assert_like_journal(claude: LiveClaude, folder: Path) -> None:
    """The same lines, read later, make the same messages."""
    journal = folder / "journal.jsonl"
    rows = [b'{"dir":"%b","msg":%b}' % (way.encode(), line.strip()) for way, line in claude.lines]
    journal.write_bytes(b"\n".join(rows) + b"\n")
    assert list(dragoman.read(journal)) == claude.messages


def test_a_story_with_calls_a_denial_and_a_steer(
    claude_program: str, claude_env: ClaudeEnv, repo: Path
) -> None:
    script = """\
turns:
- - think: I look first.
  - say: I will look.
  - read: README.md
  - run: echo one; exit 3
  - edit: {path: README.md, old: hello, new: goodbye}
  - run: touch denied.txt
  - say: All done.
- - run: "while [ ! -e go ]; do sleep 0.05; done"
  - say: After the steer.
- - run: "while [ ! -e never ]; do sleep 0.05; done"
"""

    async def story() -> None:
        rehearsal, env = claude_env(script)
        async with live_claude(claude_program, env, repo) as claude:
            await claude.run("do it", deny="denied.txt")
            turn_id = await claude.prompt("more")
            await claude.until(ToolCall)
            steer = intents.Steer(session_id=claude.session_id, turn_id=turn_id, text="only a.py")
            await claude.ask(steer)
            (repo / "go").touch()
            await claude.until(TurnEnded)
            turn_id = await claude.prompt("endless")
            await claude.until(ToolCall)
            await claude.ask(intents.Interrupt(session_id=claude.session_id, turn_id=turn_id))
            ended = await claude.until(TurnEnded)
            assert ended.outcome == "interrupted"
        _assert_like_disk(claude, rehearsal.claude_home)
        _assert_like_journal(claude, repo)

    play(story())
