"""Stories in which Dragoman drives the program, with its own driver for it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import checks
from checks import of
from stories import DRIVEN, TrialStories
from trial import Trial
from verdicts import Cells

from dragoman import Decision, Result
from dragoman.errors import DragomanError
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Message,
    Text,
    ToolCall,
    ToolResult,
    TurnEnded,
)

STORIES = TrialStories(DRIVEN)
_ENDLESS = "while [ ! -e never ]; do sleep 0.05; done"


@STORIES.story(
    *("a task to its end", "thinking", "a command", "a failing command (exit 3)", "an edit"),
    *("a plan", "an MCP call", "a sub-agent", "tokens of the turn"),
)
async def _work(trial: Trial, cells: Cells) -> None:
    stage = trial.script(checks.WORK, mcp=True)
    async with trial.connect() as agent:
        session = await agent.start(cwd=trial.repo, **trial.subject.free)
        messages = [message async for message in session.run("do it")]
    with cells.cell("a task to its end"):
        assert stage.unscripted == [], [asked.place for asked in stage.unscripted]
        checks.answer(messages)
    with cells.cell("thinking"):
        checks.thinking(messages)
    with cells.cell("a command"):
        checks.command(messages)
    with cells.cell("a failing command (exit 3)"):
        checks.failing_command(messages)
    with cells.cell("an edit"):
        checks.edit(messages, trial.repo)
    with cells.cell("a plan"):
        checks.plan(messages)
    with cells.cell("an MCP call"):
        checks.mcp_call(messages)
    with cells.cell("a sub-agent"):
        assert any(asked.place.purpose == "agent" for asked in stage.requests), "it never worked"
        checks.sub_agent(messages, waits=trial.subject.waits_for_agents)
    with cells.cell("tokens of the turn"):
        checks.tokens(messages)


_ASKING = """\
turns:
- {when: first, steps: [run: {command: touch allowed.txt, escalate: I need it}, say: One.]}
- {when: second, steps: [run: {command: touch denied.txt, escalate: I need it}, say: Two.]}
- {when: third, steps: [run: {command: touch advised.txt, escalate: I need it}, say: Three.]}
"""


@STORIES.story("an approval: allowed", "an approval: denied", "an approval: denied with a message")
async def _approvals(trial: Trial, cells: Cells) -> None:
    stage = trial.script(_ASKING, asks=True)
    decisions: dict[str, Any] = {
        "allowed.txt": "allow",
        "denied.txt": "deny",
        "advised.txt": Decision(word="deny", message="Ask me tomorrow."),
    }

    def policy(request: ApprovalRequested) -> Any:
        return next(
            (each for name, each in decisions.items() if name in str(request.command)), "deny"
        )

    async with trial.connect(policy=policy) as agent:
        session = await agent.start(cwd=trial.repo, **trial.subject.asks)
        with cells.cell("an approval: allowed"):
            messages = (await session.run("the first")).messages
            assert [each.kind for each in of(ApprovalRequested, messages)] == ["command"]
            assert [each.decision for each in of(ApprovalSettled, messages)] == ["allow"]
            assert (trial.repo / "allowed.txt").exists()
            _ended_with(messages, "completed", "One.")
        with cells.cell("an approval: denied"):
            messages = (await session.run("the second")).messages
            assert [each.decision for each in of(ApprovalSettled, messages)] == ["deny"]
            assert [each.status for each in of(ToolResult, messages)] == ["declined"]
            assert not (trial.repo / "denied.txt").exists()
            _ended_with(messages, "completed", "Two.")
        with cells.cell("an approval: denied with a message"):
            messages = (await session.run("the third")).messages
            assert [each.decision for each in of(ApprovalSettled, messages)] == ["deny"]
            assert not (trial.repo / "advised.txt").exists()
            _ended_with(messages, "completed", "Three.")
            assert b"Ask me tomorrow." in stage.requests[-1].raw, "the model never read it"


def _ended_with(messages: list[Message], outcome: str, text: str) -> None:
    assert [each.outcome for each in of(TurnEnded, messages)] == [outcome], of(TurnEnded, messages)
    assert [each.text for each in of(Text, messages)][-1:] == [text]


@STORIES.story("an interrupt, and the next turn works")
async def _interrupt(trial: Trial, cells: Cells) -> None:
    trial.script(
        f"turns:\n- {{when: first, steps: [run: '{_ENDLESS}', say: Never.]}}\n"
        "- {when: second, steps: [say: Fine.]}"
    )
    async with trial.connect() as agent:
        session = await agent.start(cwd=trial.repo, **trial.subject.free)
        messages: list[Message] = []
        with cells.cell("an interrupt, and the next turn works"):
            async for message in session.run("the first"):
                messages.append(message)
                if isinstance(message, ToolCall):
                    await session.interrupt()
            assert [each.outcome for each in of(TurnEnded, messages)] == ["interrupted"]
            calls = [each.call_id for each in of(ToolCall, messages)]
            assert calls == [each.call_id for each in of(ToolResult, messages)], messages
            result = await session.run("the second")
            assert (result.outcome, result.text) == ("completed", "Fine.")


_TWO = "turns:\n- {when: first, steps: [say: One.]}\n- {when: second, steps: [say: Two.]}\n- {when: third, steps: [say: Three.]}"


@STORIES.story("a session resumed by another process", "a session forked")
async def _resume(trial: Trial, cells: Cells) -> None:
    stage = trial.script(_TWO)
    async with trial.connect() as agent:
        session = await agent.start(cwd=trial.repo, **trial.subject.free)
        assert (await session.run("the first")).text == "One."
    with cells.cell("a session resumed by another process"):
        async with trial.connect() as agent:
            again = await agent.start(cwd=trial.repo, resume=session.id, **trial.subject.free)
            assert again.id == session.id
            assert (await again.run("the second")).text == "Two."
        assert b"the first" in stage.requests[-1].raw, "the model has lost the first turn"
        assert b"One." in stage.requests[-1].raw, "the model has lost its first answer"
    with cells.cell("a session forked"):
        async with trial.connect() as agent:
            branch = await agent.start(cwd=trial.repo, fork=session.id, **trial.subject.free)
            assert branch.id != session.id
            trial.forks.add(branch.id)
            assert (await branch.run("the third")).text == "Three."
        assert b"the first" in stage.requests[-1].raw, "the model has lost the first turn"


_FAULTS = """\
turns:
- {when: denied, steps: [http: {status: 401, headers: {retry-after: "0"}}]}
- {when: limited, steps: [http: {status: 429, headers: {retry-after: "0"}}]}
- {when: broken, steps: [http: {status: 500, headers: {retry-after: "0"}}]}
"""
_BOUNDED = 45
"""Seconds after which a turn that an agent would retry for ever must be ended by us, with the reason."""


@STORIES.story(
    "a model that refuses the key (401)",
    "a model that is over its limit (429)",
    "a model that fails (500)",
)
async def _faults(trial: Trial, cells: Cells) -> None:
    trial.script(_FAULTS)
    for cell, prompt in (
        ("a model that refuses the key (401)", "denied"),
        ("a model that is over its limit (429)", "limited"),
        ("a model that fails (500)", "broken"),
    ):
        with cells.cell(cell):
            async with trial.connect() as agent:
                session = await agent.start(cwd=trial.repo, **trial.subject.free)
                result = await _bounded(session.run(prompt))
            assert result.outcome == "failed", result
            assert result.error is not None
            assert result.error.message, result.error


async def _bounded(run: Any) -> Result:
    async with asyncio.timeout(3 * _BOUNDED):
        return await run


@STORIES.story("the agent is killed in the middle of a turn", compares=False)
async def _killed(trial: Trial, cells: Cells) -> None:
    trial.script(f"- run: '{_ENDLESS}'\n- say: Never.")
    messages: list[Message] = []
    with cells.cell("the agent is killed in the middle of a turn"):
        # Leaving the block may say once more that the agent is gone.
        with suppress(DragomanError):
            async with trial.connect() as agent:
                session = await agent.start(cwd=trial.repo, **trial.subject.free)
                async for message in session.run("go"):
                    messages.append(message)
                    if isinstance(message, ToolCall):
                        found = trial.agents()
                        assert found, "the agent's process was not found"
                        for pid in found:
                            os.kill(pid, signal.SIGKILL)
        assert [each.outcome for each in of(TurnEnded, messages)] == ["failed"], messages[-3:]
        trial.check_nothing_runs()


@STORIES.story("Dragoman is killed in the middle of a turn")
async def _we_are_killed(trial: Trial, cells: Cells) -> None:
    trial.script(f"- run: '{_ENDLESS}'\n- say: Never.")
    subject = trial.subject
    words = [subject.harness or subject.name, str(trial.program), str(trial.repo)]
    with cells.cell("Dragoman is killed in the middle of a turn"):
        victim = str(Path(__file__).with_name("victim.py"))
        ours = await asyncio.create_subprocess_exec(
            *(sys.executable, victim, *words, repr(dict(subject.free))),
            env=trial.env,
            stdout=subprocess.PIPE,
        )
        try:
            assert ours.stdout is not None
            line = await asyncio.wait_for(ours.stdout.readline(), 90)
            assert line == b"running\n", line
            assert trial.agents()
        finally:
            ours.kill()
            await ours.wait()
        trial.check_nothing_runs()
