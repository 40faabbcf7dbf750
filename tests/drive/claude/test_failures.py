"""Models that fail, limits that are reached, and helpers at work, with the real Claude."""

from __future__ import annotations

from pathlib import Path

from dragoman.model.messages import Notice, SessionStarted, Text, TurnEnded
from support.agents.fixtures import ClaudeEnv
from support.agents.live_claude import HELPER_IN_THE_BACKGROUND, live_claude, play

_FAULTS = """\
retries: 1
turns:
- {when: key, steps: [http: {status: 401, headers: {retry-after: "0"}}]}
- {when: limit, steps: [http: {status: 429, headers: {retry-after: "0"}}]}
- {when: broken, steps: [http: {status: 500, headers: {retry-after: "0"}}]}
- {when: once, steps: [http: {status: 500, times: 1, headers: {retry-after: "0"}}, say: Fine.]}
"""


def test_failures_of_the_model_end_the_turn_and_not_the_session(
    claude_program: str, claude_env: ClaudeEnv, repo: Path
) -> None:
    async def story() -> None:
        _, env = claude_env(_FAULTS)
        async with live_claude(claude_program, env, repo) as claude:
            ends = {name: await claude.run(name) for name in ("key", "limit", "broken", "once")}

        assert [each.outcome for each in ends.values()] == ["failed"] * 3 + ["completed"]
        kinds = [each.error.kind for each in ends.values() if each.error is not None]
        retryable = [each.error.retryable for each in ends.values() if each.error is not None]
        assert len(kinds) == 3
        assert retryable == [False, True, True]
        retries = [each for each in claude.messages if isinstance(each, Notice) and each.will_retry]
        assert retries
        assert claude.texts()[-1] == "Fine."

    play(story())


def test_a_budget_that_is_used_up_ends_the_turn(
    claude_program: str, claude_env: ClaudeEnv, repo: Path
) -> None:
    script = """\
turns:
- - run: echo one
  - run: echo two
  - say: Never said.
"""

    async def story() -> None:
        _, env = claude_env(script)
        options = {"access": "bypassPermissions", "config": {"max_budget_usd": 0.0001}}
        async with live_claude(claude_program, env, repo, **options) as claude:
            ended = await claude.run("spend")
        assert ended.outcome == "failed"
        assert ended.error is not None
        assert not ended.error.retryable

    play(story())


def test_a_helper_in_the_background_reports_in_a_turn_of_its_own(
    claude_program: str, claude_env: ClaudeEnv, repo: Path
) -> None:
    async def story() -> None:
        _, env = claude_env(HELPER_IN_THE_BACKGROUND)
        async with live_claude(claude_program, env, repo, access="bypassPermissions") as claude:
            first = await claude.run("delegate")
            (repo / "go").touch()
            later = await claude.until(
                TurnEnded, lambda ended: ended.session_id == claude.session_id
            )
            own = [m for m in claude.messages if m.session_id == claude.session_id]
            helpers = [
                m
                for m in claude.messages
                if isinstance(m, SessionStarted) and m.parent_session_id == claude.session_id
            ]
            next_turn = await claude.run("and now")

        assert first.outcome == later.outcome == next_turn.outcome == "completed"
        assert len({first.turn_id, later.turn_id, next_turn.turn_id}) == 3
        assert helpers
        said = [m.text for m in claude.messages if isinstance(m, Text) if m not in own]
        assert "It is 7." in said

    play(story())
