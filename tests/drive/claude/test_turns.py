"""Turns of the real Claude, driven over stream-json with the stand-in model."""

from __future__ import annotations

from pathlib import Path

from dragoman.model.messages import Delta, Prompt, SessionStarted, TurnEnded
from support.agents.fixtures import ClaudeEnv
from support.agents.live_claude import LiveClaude, live_claude, play

_TWO_TURNS = """\
turns:
- - say: Hello from the stand-in model.
- - say: Again.
"""


def test_a_text_turn_comes_in_pieces_and_whole(
    claude_program: str, claude_env: ClaudeEnv, repo: Path
) -> None:
    async def story() -> tuple[LiveClaude, TurnEnded, TurnEnded]:
        _, env = claude_env(_TWO_TURNS)
        async with live_claude(claude_program, env, repo) as claude:
            return claude, await claude.run("hi"), await claude.run("and again")

    claude, first, second = play(story())

    own = [each for each in claude.messages if each.session_id == claude.session_id]
    pieces = "".join(each.text for each in own if isinstance(each, Delta) and each.of == "text")
    assert first.outcome == second.outcome == "completed"
    assert claude.texts() == ["Hello from the stand-in model.", "Again."]
    assert pieces == "".join(claude.texts())
    assert [each.text for each in own if isinstance(each, Prompt)] == ["hi", "and again"]
    assert len([each for each in own if isinstance(each, SessionStarted)]) == 1
    assert first.usage is not None
    assert first.turn_id != second.turn_id
    assert claude.server is not None
    assert claude.server.signed_in
