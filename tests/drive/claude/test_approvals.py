"""What the real Claude asks, and what becomes of each answer."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    SessionStarted,
    ToolResult,
    TurnEnded,
)
from support.agents.fixtures import ClaudeEnv
from support.agents.live_claude import live_claude, play


def test_a_command_is_asked_about_and_allowed_or_denied_with_a_message(
    claude_program: str, claude_env: ClaudeEnv, repo: Path
) -> None:
    script = """\
turns:
- - run: touch made.txt
  - run: touch other.txt
  - say: Done.
"""

    async def story() -> None:
        rehearsal, env = claude_env(script)
        async with live_claude(claude_program, env, repo) as claude:
            await claude.prompt("do it")
            asked = await claude.until(ApprovalRequested)
            assert (asked.kind, asked.command) == ("command", "touch made.txt")
            assert asked.cwd == str(repo)
            assert not (repo / "made.txt").exists()
            await claude.decide(asked, "allow")
            assert (await claude.until(ToolResult)).status == "completed"
            assert (repo / "made.txt").exists()

            asked = await claude.until(ApprovalRequested)
            await claude.decide(asked, "deny", message="Ask me tomorrow.")
            settled = await claude.until(ApprovalSettled)
            denied = await claude.until(ToolResult)
            ended = await claude.until(TurnEnded)

        assert settled.decision == "deny"
        assert (denied.status, denied.output) == ("declined", "Ask me tomorrow.")
        assert ended.outcome == "completed"
        assert not (repo / "other.txt").exists()
        assert "Ask me tomorrow." in "\n".join(rehearsal.requests[-1].outputs)

    play(story())


def test_allowed_for_the_session_is_not_asked_again_and_nothing_else_is_allowed(
    claude_program: str, claude_env: ClaudeEnv, repo: Path
) -> None:
    script = """\
turns:
- - run: touch one.txt
  - run: touch one.txt
  - write: {path: a.txt, text: "a"}
  - write: {path: a.txt, text: "b"}
  - write: {path: b.txt, text: "b"}
  - run: touch one.txt two.txt
  - say: Done.
"""

    async def story() -> None:
        _, env = claude_env(script)
        async with live_claude(claude_program, env, repo) as claude:
            await claude.prompt("do it")
            asked: list[str] = []
            for decision in ("allow_for_session", "allow_for_session", "deny", "deny"):
                request = await claude.until(ApprovalRequested)
                asked.append(request.summary)
                await claude.decide(request, decision)
            await claude.until(TurnEnded)

        assert asked == [
            "touch one.txt",
            str(repo / "a.txt"),
            str(repo / "b.txt"),
            "touch one.txt two.txt",
        ]
        assert (repo / "a.txt").read_text() == "b"
        assert not (repo / ".claude").exists(), "nothing is stored"

    play(story())


def test_allowed_always_stores_the_rule_that_was_shown(
    claude_program: str, claude_env: ClaudeEnv, repo: Path
) -> None:
    script = """\
turns:
- - run: touch one.txt
  - run: touch one.txt
  - say: Done.
"""

    async def story() -> None:
        _, env = claude_env(script)
        async with live_claude(claude_program, env, repo) as claude:
            await claude.prompt("do it")
            request = await claude.until(ApprovalRequested)
            await claude.decide(request, "allow_always")
            await claude.until(TurnEnded)

        assert "allow_always" in request.choices
        assert request.always is not None
        assert request.always.prefix == ["touch", "one.txt"]
        assert request.always.stored_in == ".claude/settings.local.json"
        stored = (repo / request.always.stored_in).read_text()
        assert "touch one.txt" in stored
        assert len([m for m in claude.messages if isinstance(m, ApprovalRequested)]) == 1

    play(story())


def test_an_edit_shows_its_file_and_cancel_stops_the_turn(
    claude_program: str, claude_env: ClaudeEnv, repo: Path
) -> None:
    script = """\
turns:
- - edit: {path: README.md, old: hello, new: goodbye}
  - write: {path: new.txt, text: "new\\n"}
  - say: Never said.
- - say: Next.
"""

    async def story() -> None:
        _, env = claude_env(script)
        async with live_claude(claude_program, env, repo) as claude:
            await claude.prompt("edit it")
            asked = await claude.until(ApprovalRequested)
            assert (asked.kind, asked.summary) == ("edit", str(repo / "README.md"))
            await claude.decide(asked, "allow")
            asked = await claude.until(ApprovalRequested)
            await claude.decide(asked, "cancel")
            stopped = await claude.until(TurnEnded)
            after = await claude.run("go on")

        assert (repo / "README.md").read_text() == "goodbye\n"
        assert not (repo / "new.txt").exists()
        assert stopped.outcome == "interrupted"
        assert (after.outcome, claude.texts()) == ("completed", ["Next."])

    play(story())


def test_a_question_is_answered(claude_program: str, claude_env: ClaudeEnv, repo: Path) -> None:
    script = """\
turns:
- - ask: {question: "Which color?", options: [Red, Blue]}
  - say: Done.
"""

    async def story() -> None:
        rehearsal, env = claude_env(script)
        async with live_claude(claude_program, env, repo) as claude:
            await claude.prompt("ask me")
            asked = await claude.until(ApprovalRequested)
            await claude.decide(asked, "answered", answers={"Which color?": ["Blue"]})
            ended = await claude.until(TurnEnded)

        assert asked.kind == "question"
        assert ended.outcome == "completed"
        assert '"Which color?"="Blue"' in "\n".join(rehearsal.requests[-1].outputs)

    play(story())


def test_leaving_plan_mode_is_asked_for_and_widens_the_access(
    claude_program: str, claude_env: ClaudeEnv, repo: Path
) -> None:
    script = """\
turns:
- - write: {path: early.txt, text: "x"}
  - tool: {name: ExitPlanMode, arguments: {}}
  - say: Planned.
"""

    async def story() -> None:
        _, env = claude_env(script)
        async with live_claude(claude_program, env, repo, access="plan") as claude:
            assert claude.facts.access == "plan"
            await claude.prompt("plan it")
            early = await claude.until(ApprovalRequested)
            await claude.decide(early, "deny")
            asked = await claude.until(ApprovalRequested)
            await claude.decide(asked, "allow")
            ended = await claude.until(TurnEnded)

        assert early.kind == "edit"
        assert ended.outcome == "completed"
        assert not (repo / "early.txt").exists()

    play(story())


def test_what_a_helper_asks_is_answered_in_its_own_session(
    claude_program: str, claude_env: ClaudeEnv, repo: Path
) -> None:
    script = """\
turns:
- - agent: "HELPER: help"
  - say: Done.
- when: HELPER
  steps: [{run: touch helped.txt}, {say: Helped.}]
"""

    async def story() -> None:
        _, env = claude_env(script)
        async with live_claude(claude_program, env, repo) as claude:
            await claude.prompt("delegate")
            asked = await claude.until(ApprovalRequested)
            await claude.decide(asked, "allow")
            await claude.until(TurnEnded, lambda ended: ended.session_id == claude.session_id)

        started = [m for m in claude.messages if isinstance(m, SessionStarted)]
        parents = {m.parent_session_id for m in started if m.session_id == asked.session_id}
        assert parents == {claude.session_id}
        assert (repo / "helped.txt").exists()

    play(story())


def test_to_cancel_a_form_of_a_server_stops_the_turn(
    claude_program: str, claude_env: ClaudeEnv, repo: Path
) -> None:
    asker = Path(__file__).parents[2] / "support" / "agents" / "asking_server.py"
    server = {"command": sys.executable, "args": [str(asker)]}
    (repo / ".mcp.json").write_text(json.dumps({"mcpServers": {"asker": server}}), "utf-8")
    script = """\
turns:
- - mcp: {server: asker, tool: ask, arguments: {mode: form}}
  - say: Never.
- - say: Hello.
claude:
  enableAllProjectMcpServers: true
  permissions: {allow: [mcp__asker]}
"""

    async def story() -> None:
        _, env = claude_env(script)
        async with live_claude(claude_program, env, repo) as claude:
            await claude.prompt("do it")
            asked = await claude.until(ApprovalRequested)
            assert (asked.kind, asked.summary) == ("elicitation", "Who are you?")
            await claude.decide(asked, "cancel")
            assert (await claude.until(TurnEnded)).outcome == "interrupted"
            await claude.prompt("and now?")
            assert (await claude.until(TurnEnded)).outcome == "completed"

    play(story())
