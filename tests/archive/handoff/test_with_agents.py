"""The real programs resume what was handed off, and send their models all of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dragoman.archive.api import SessionArchive
from dragoman.model.messages import Text
from dragoman.rehearsal import Rehearsal
from support.agents.onlookers import marked, wait_until
from support.handoff import DATA

_SECONDS = 60
_DRAGOMAN = str(Path(sys.executable).with_name("dragoman"))
_SCRIPT = """\
turns:
  - - think: I look.
    - run: echo from-the-first; exit 3
    - patch: |
        *** Begin Patch
        *** Add File: note.txt
        +hello
        *** End Patch
    - say: First done.
  - - run: cat note.txt && echo from-the-second
    - say: Second done.
  - - say: Third done.
"""


def _run(*arguments: str, env: dict[str, str], cwd: Path) -> str:
    done = subprocess.run(
        [_DRAGOMAN, *arguments],
        env=env,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_from_codex_to_claude_and_back_the_model_receives_everything(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    with Rehearsal(_SCRIPT, agent=["codex", "claude"]) as stage:
        home = str(stage.home)
        env = {**stage.environ, "DRAGOMAN_CACHE": str(tmp_path / "cache")}
        _run("run", "--harness", "codex", "-y", "-q", "do it", env=env, cwd=work)
        there = json.loads(_run("handoff", "--last", "--to", "claude", "--json", env=env, cwd=work))
        _run("run", "--resume", there["session_id"], "-y", "-q", "and more", env=env, cwd=work)
        _run("handoff", there["session_id"], "--to", "codex", "--run", "at last", env=env, cwd=work)

        last = stage.requests[-1]
        assert stage.unscripted == []
        assert last.endpoint == "/v1/responses"  # Codex's
        assert _said(last.body["input"]) == [
            ("user", "do it"),
            ("exec_command", "echo from-the-first; exit 3"),
            ("output", "from-the-first"),
            ("apply_patch", "note.txt"),
            ("output", "note.txt"),
            ("assistant", "First done."),
            ("user", "and more"),
            ("exec_command", "cat note.txt && echo from-the-second"),
            ("output", "hello\nfrom-the-second"),
            ("assistant", "Second done."),
            ("user", "at last"),
        ]
        usage = json.loads(_run("usage", "--json", env=env, cwd=work))
        # Each answer of the model is counted once, in the session that asked for it.
        assert usage["total"]["responses"] == len(stage.requests) == 6
        assert usage["total"]["sessions"] == 3
        listed = [
            json.loads(line) for line in _run("sessions", "--json", env=env, cwd=work).splitlines()
        ]
        assert [(each["harness"], each["origin"], each["turns"]) for each in listed] == [
            ("codex", "hand-off", 3), ("claude", "hand-off", 2), ("codex", None, 1),
        ]  # fmt: skip
        assert listed[0]["parent_session_id"] == there["session_id"]
    wait_until(lambda: not marked(home), _SECONDS)


def _said(items: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """The conversation in a request of Codex, without what Codex itself puts before the model."""
    found: list[tuple[str, str]] = []
    for item in items:
        match item["type"]:
            case "message" if item["role"] != "developer":
                text = "".join(part.get("text", "") for part in item["content"])
                if not text.startswith(("<environment_context>", "# AGENTS.md")):
                    found.append((item["role"], text))
            case "function_call":
                found.append((item["name"], json.loads(item["arguments"])["cmd"]))
            case "custom_tool_call":
                found.append(
                    (item["name"], Path(item["input"].split("File: ")[1].split("\n")[0]).name)
                )
            case "function_call_output" | "custom_tool_call_output":
                found.append(("output", _output(item["output"])))
            case _:
                continue
    return found


def _output(text: str) -> str:
    """An output without its header, and without what login shells of the machine may print."""
    lines = text.split("Output:\n", 1)[-1].strip().split("\n")
    known = [line for line in lines if line.startswith(("from-the", "hello"))]
    return "\n".join(known) if known else "note.txt" if "note.txt" in text else text


@pytest.mark.parametrize(
    ("recording", "to"),
    [
        ("gemini/gemini-chat/story/wire.jsonl", "claude"),
        ("copilot/1.0.102/files.disk.jsonl", "codex"),
    ],
)
def test_recorded_sessions_of_others_are_continued(
    recording: str, to: str, tmp_path: Path, codex: str, claude_program: str
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    agent: Any = to
    with Rehearsal("- say: I know.", agent=agent) as stage:
        env = {**os.environ, **stage.env}
        home = stage.codex_home if to == "codex" else stage.claude_home / ".claude"
        with SessionArchive(paths=[DATA / recording], cache=tmp_path / "cache") as archive:
            archive.index()
            source = archive.last()
            done = archive.hand_off(source, to=to, cwd=work, home=home)
            turns = source.turns()
        prompts = [prompt.text for turn in turns for prompt in turn.prompts]
        texts = [step.text for turn in turns for step in turn.steps if isinstance(step, Text)]
        outputs = [use.result.output for turn in turns for use in turn.uses if use.result]
        resume = {
            "codex": [codex, "exec", "--skip-git-repo-check", "resume", done.session_id, "go on"],
            "claude": [claude_program, "-p", "--resume", done.session_id, "go on"],
        }
        ended = subprocess.run(
            resume[to], env=env, cwd=work, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=_SECONDS, check=False,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        asked = json.dumps(stage.requests[-1].body, ensure_ascii=False)
        mark = str(stage.home)
    assert prompts
    assert texts
    assert outputs
    for words in (*prompts, *texts, *outputs, "go on"):
        assert json.dumps(words, ensure_ascii=False)[1:-1].strip("\\n") in asked, words
    wait_until(lambda: not marked(mark), _SECONDS)
