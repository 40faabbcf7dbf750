"""Stories in which the program runs by itself, and Dragoman reads its output and its session files."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import checks
from stories import ALONE, TrialStories
from trial import RUN_SECONDS, Trial
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
    code, messages = await trial.run(trial.subject.run("do it"))
    outputs = "\n".join(output for asked in stage.requests for output in asked.outputs)
    with cells.cell("a task to its end"):
        assert code == 0, code
        assert stage.unscripted == [], [asked.place for asked in stage.unscripted]
        _read(messages, checks.answer)
    with cells.cell("thinking"):
        _read(messages, checks.thinking)
    with cells.cell("a command"):
        assert "old\nend" in outputs
        _read(messages, checks.command)
    with cells.cell("a failing command (exit 3)"):
        assert "before" in outputs
        _read(messages, checks.failing_command)
    with cells.cell("an edit"):
        assert (trial.repo / "note.txt").read_text(encoding="utf-8") == "new\nend\n"
        if messages:
            checks.edit(messages, trial.repo)
    with cells.cell("a plan"):
        assert "Look" in outputs or "inserted" in outputs
        _read(messages, checks.plan)
    with cells.cell("an MCP call"):
        assert "the broken door" in outputs, "the tool was not called"
        _read(messages, checks.mcp_call)
    with cells.cell("a sub-agent"):
        assert "from the helper" in outputs, "the sub-agent did not work"
        assert "It is 7." in outputs, "its result did not come back"
        _read(messages, checks.sub_agent)


def _read(messages: list[Message], check: Any) -> None:
    """Check what our reader says, if there is one for this program."""
    if messages:
        check(messages)


_TWO = "turns:\n- {when: first, steps: [say: One.]}\n- {when: second, steps: [say: Two.]}\n- {when: third, steps: [say: Three.]}"


@STORIES.story("a session resumed by another process", "a session forked")
async def _resume(trial: Trial, cells: Cells) -> None:
    subject = trial.subject
    assert subject.run is not None
    stage = trial.script(_TWO)
    code, _ = await trial.run(subject.run("the first"))
    assert code == 0
    ident = _session_of(trial.folder / "out-0.jsonl")
    with cells.cell("a session resumed by another process"):
        assert subject.resumed is not None
        code, _ = await trial.run(subject.resumed(ident, "the second"))
        assert code == 0
        assert b"One." in stage.requests[-1].raw, "the model has lost its first answer"
        assert _session_of(trial.folder / "out-1.jsonl") == ident
    with cells.cell("a session forked"):
        assert subject.forked is not None, "no flag for it"
        code, _ = await trial.run(subject.forked(ident, "the third"))
        assert code == 0
        assert b"One." in stage.requests[-1].raw, "the model has lost its first answer"
        assert _session_of(trial.folder / "out-2.jsonl") != ident


def _session_of(path: Path) -> str:
    """The id of the session, as the program's own output has it."""
    for line in path.read_bytes().splitlines():
        row = json.loads(line)
        for name in ("session_id", "sessionId", "sessionID"):
            if isinstance(row.get(name), str):
                return row[name]
    raise AssertionError(f"no session id in {path.name}")


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
