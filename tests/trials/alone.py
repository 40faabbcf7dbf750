"""Stories in which the program runs by itself, and Dragoman reads its output and its session files."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import checks
from stories import ALONE, TrialStories
from trial import RUN_SECONDS, Trial, session_in
from verdicts import Cells

from dragoman.model.messages import Message
from support.agents.offline import can_go_offline, run_offline

STORIES = TrialStories(ALONE)
_DRAGOMAN = str(Path(sys.executable).with_name("dragoman"))


@STORIES.story(
    *("a task to its end", "thinking", "a command", "a failing command (exit 3)", "an edit"),
    *("a plan", "an MCP call", "a sub-agent"),
)
async def _work(trial: Trial, cells: Cells) -> None:
    assert trial.subject.run is not None
    stage = trial.script(checks.WORK, mcp=True)
    code, printed = await trial.run(trial.subject.run("do it"))
    found = [each for each in (printed, trial.saved()) if each]
    outputs = "\n".join(output for asked in stage.requests for output in asked.outputs)
    with cells.cell("a task to its end"):
        assert code == 0, code
        assert stage.unscripted == [], [asked.place for asked in stage.unscripted]
        _read(found, checks.answer)
    with cells.cell("thinking"):
        _read(found, checks.thinking)
    with cells.cell("a command"):
        assert "end\nold" in outputs
        _read(found, checks.command)
    with cells.cell("a failing command (exit 3)"):
        assert "before" in outputs
        _read(found, checks.failing_command)
    with cells.cell("an edit"):
        assert (trial.repo / "note.txt").read_text(encoding="utf-8") == "new\nend\n"
        _read(found, partial(checks.edit, repo=trial.repo))
    with cells.cell("a plan"):
        assert "Look" in outputs or "inserted" in outputs
        _read(found, checks.plan)
    with cells.cell("an MCP call"):
        assert "the broken door" in outputs, "the tool was not called"
        _read(found, checks.mcp_call)
    with cells.cell("a sub-agent"):
        assert "from the helper" in outputs, "the sub-agent did not work"
        assert "It is 7." in outputs, "its result did not come back"
        _read(found, checks.sub_agent)


def _read(found: list[list[Message]], check: Callable[[list[Message]], None]) -> None:
    """What our reader makes of the output must pass the check, or what it makes of the session's file.

    Some programs print less than they keep: what a dialect lacks is in docs/limits.md.
    """
    problems: list[AssertionError] = []
    for messages in found:
        try:
            check(messages)
        except AssertionError as problem:
            problems.append(problem)
    if found and len(problems) == len(found):
        raise problems[-1]


_TWO = "turns:\n- {when: first, steps: [say: One.]}\n- {when: second, steps: [say: Two.]}\n- {when: third, steps: [say: Three.]}"


@STORIES.story("a session resumed by another process", "a session forked")
async def _resume(trial: Trial, cells: Cells) -> None:
    subject = trial.subject
    assert subject.run is not None
    stage = trial.script(_TWO)
    code, _ = await trial.run(subject.run("the first"))
    assert code == 0
    ident = session_in(trial.folder / "out-0.jsonl")
    assert ident is not None, "its output names no session"
    with cells.cell("a session resumed by another process"):
        assert subject.resumed is not None
        code, _ = await trial.run(subject.resumed(ident, "the second"))
        assert code == 0
        assert b"One." in stage.requests[-1].raw, "the model has lost its first answer"
        assert session_in(trial.folder / "out-1.jsonl") == ident
    with cells.cell("a session forked"):
        assert subject.forked is not None, "no flag for it"
        code, _ = await trial.run(subject.forked(ident, "the third"))
        assert code == 0
        assert b"One." in stage.requests[-1].raw, "the model has lost its first answer"
        branch = session_in(trial.folder / "out-2.jsonl")
        assert branch is not None
        assert branch != ident
        trial.forks.add(branch)


@STORIES.story(
    "a model that refuses the key (401)",
    "a model that is over its limit (429)",
    "a model that fails (500)",
)
async def _faults(trial: Trial, cells: Cells) -> None:
    assert trial.subject.run is not None
    for cell, prompt, status in (
        ("a model that refuses the key (401)", "denied", 401),
        ("a model that is over its limit (429)", "limited", 429),
        ("a model that fails (500)", "broken", 500),
    ):
        with cells.cell(cell):
            stage = trial.script(f"- http: {{status: {status}, headers: {{retry-after: '0'}}}}")
            code, _ = await trial.run(trial.subject.run(prompt))
            assert code != 0, "it reports success"
            assert stage.requests, "the model was not asked"
            stage.close()


@STORIES.story("nothing but loopback is contacted")
async def _offline(trial: Trial, cells: Cells) -> None:
    assert trial.subject.run is not None
    assert can_go_offline(), "this machine allows no network namespace"
    script = trial.folder / "script.yaml"
    script.write_text("- run: echo one\n- say: Hello.\n", encoding="utf-8")
    command = [_DRAGOMAN, "rehearse", "--harness", trial.subject.agent, str(script), "--"]
    command += [str(trial.program), *trial.subject.run("hi")]
    # The cache is the user's own: Copilot unpacks itself there, once.
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    env = {"PATH": os.environ["PATH"], "HOME": str(trial.folder), "XDG_CACHE_HOME": cache}
    with cells.cell("nothing but loopback is contacted"):
        done = await asyncio.to_thread(
            run_offline, command, trial.folder, env=env, cwd=trial.repo, seconds=RUN_SECONDS
        )
        assert done.exit_code == 0, done.stderr
        assert "Hello." in done.stdout
        assert (done.looked_up, done.contacted) == ([], []), done
