"""Scripts played by the real program: what a step says really happens."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from dragoman.rehearsal import Rehearsal, read_script

_SECONDS = 90
_EXAMPLES = Path(__file__).parents[2] / "examples" / "rehearsals"
_ALL = """\
turns:
- - think: "**Look**"
  - say: {text: I will look., phase: commentary}
  - plan: [doing: Look, todo: Fix]
  - run: cat note.txt
  - patch: |
      *** Begin Patch
      *** Update File: note.txt
      @@
      -old
      +new
      *** End Patch
  - together: [run: echo one, run: echo two; exit 3]
  - search: weather
  - tokens: {input: 1234, cached: 1000, output: 56, reasoning: 7}
  - say: All done.
- - run: cat note.txt
  - say: Second answer.
"""


def _exec(codex: str, stage: Rehearsal, folder: Path, *words: str) -> list[dict[str, Any]]:
    """The events that ``codex exec`` prints."""
    done = subprocess.run(
        [codex, "exec", "--json", "--skip-git-repo-check", "-C", str(folder), *words],
        env=stage.environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_SECONDS,
        check=False,
    )
    assert done.stdout, done.stderr.decode()
    return [json.loads(line) for line in done.stdout.split(b"\n") if line]


def _items(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    items = [event["item"] for event in events if event["type"] == "item.completed"]
    return [item for item in items if item["type"] == kind]


def _texts(events: list[dict[str, Any]]) -> list[str]:
    return [item["text"] for item in _items(events, "agent_message")]


def test_every_kind_of_step_happens_and_a_resumed_session_goes_on_in_the_script(
    codex: str, tmp_path: Path
) -> None:
    (tmp_path / "note.txt").write_text("old\n", encoding="utf-8")

    with Rehearsal(_ALL, config={"model_reasoning_summary": "detailed"}) as stage:
        first = _exec(codex, stage, tmp_path, "do it")
        second = _exec(codex, stage, tmp_path, "resume", first[0]["thread_id"], "again")

    assert _texts(first) == ["I will look.", "All done."]
    assert [item["text"] for item in _items(first, "reasoning")] == ["**Look**"]
    assert _items(first, "file_change")[0]["status"] == "completed"
    assert (tmp_path / "note.txt").read_text(encoding="utf-8") == "new\n"
    assert _items(first, "web_search")[0]["query"] == "weather"
    assert _items(first, "todo_list")
    usage = first[-1]["usage"]
    assert (usage["cached_input_tokens"], usage["reasoning_output_tokens"]) == (1000, 7)
    assert _texts(second) == ["Second answer."]
    # A program may tell the end of a command late or never; the model has seen them all.
    outputs = "\n".join(stage.requests[-1].outputs)
    assert all(words in outputs for words in ("old", "new", "one", "two"))
    assert stage.unscripted == []


@pytest.mark.parametrize(
    ("prompt", "outcome"),
    [
        ("flaky", "Recovered at the third attempt."),
        ("noise", "That was not JSON, and this is."),
        ("limit", "429"),
        ("key", "401"),
        ("overflow", "context window"),
        ("who are you?", "Say one of: flaky"),
    ],
)
def test_faults_reach_the_agent(codex: str, tmp_path: Path, prompt: str, outcome: str) -> None:
    with Rehearsal(_EXAMPLES / "hard-times.yaml") as stage:
        events = _exec(codex, stage, tmp_path, prompt)

    failed = [event["error"]["message"] for event in events if event["type"] == "turn.failed"]
    assert any(outcome in said for said in (failed or _texts(events))), events


def test_silence_ends_when_the_agent_has_waited_long_enough(codex: str, tmp_path: Path) -> None:
    impatient = {"model_providers": {"rehearsal": {"stream_idle_timeout_ms": 200}}}

    with Rehearsal("- silence", config=impatient) as stage:
        events = _exec(codex, stage, tmp_path, "hi")

    assert events[-1]["type"] == "turn.failed"


def test_a_summary_in_the_middle_of_a_turn_loses_no_step(codex: str, tmp_path: Path) -> None:
    script = "- tokens: {input: 50000}\n- run: echo one\n- run: echo two\n- say: Done."

    with Rehearsal(script, config={"model_auto_compact_token_limit": 20000}) as stage:
        events = _exec(codex, stage, tmp_path, "hi")

    assert _texts(events) == ["Done."]
    assert [asked.place.purpose for asked in stage.requests].count("summary") == 1
    assert [asked.place.response for asked in stage.requests] == [0, 1, 1, 2]


def test_the_example_fixes_the_test(codex: str, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    shutil.copytree(_EXAMPLES / "fix-the-test", folder)
    open_air = {"sandbox_mode": "danger-full-access"}  # not every machine has a sandbox

    with Rehearsal(_EXAMPLES / "fix-the-test.yaml", config=open_air) as stage:
        events = _exec(codex, stage, folder, "Fix the failing test")

    assert 'f"Hello, {name}!"' in (folder / "greet.py").read_text(encoding="utf-8")
    assert _texts(events)[-1].startswith("The test passes now")
    assert stage.unscripted == []


@pytest.mark.parametrize("path", sorted(_EXAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_example_is_a_script(path: Path) -> None:
    assert read_script(path).turns


@contextlib.contextmanager
def _app_server(codex: str, stage: Rehearsal) -> Generator[subprocess.Popen[bytes]]:
    """The program as a server; it is gone at the end, whatever happens."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [codex, "app-server"],
        env=stage.environ,
        stdin=pipe,
        stdout=pipe,
        stderr=subprocess.DEVNULL,
        process_group=0,
    ) as child:
        alarm = threading.Timer(_SECONDS, os.killpg, (child.pid, signal.SIGKILL))
        alarm.start()
        try:
            yield child
        finally:
            alarm.cancel()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)


def test_sessions_at_once_ask_for_their_approvals_and_get_their_own_answers(
    codex: str, tmp_path: Path
) -> None:
    count = 5
    script = """\
turns:
- - run: {command: echo made, escalate: "May I make it?"}
  - say: Made.
"""
    asking = {"approval_policy": "on-request", "sandbox_mode": "read-only"}
    told: list[dict[str, Any]] = []
    done: list[dict[str, Any]] = []
    with Rehearsal(script, config=asking) as stage, _app_server(codex, stage) as child:

        def send(**message: Any) -> None:
            assert child.stdin is not None
            child.stdin.write(json.dumps(message).encode() + b"\n")
            child.stdin.flush()

        send(id=0, method="initialize", params={"clientInfo": {"name": "test", "version": "1"}})
        send(method="initialized")
        for number in range(count):
            send(id=f"start {number}", method="thread/start", params={"cwd": str(tmp_path)})
        assert child.stdout is not None
        for line in child.stdout:
            message = json.loads(line)
            told.append(message)
            if message.get("method") == "item/commandExecution/requestApproval":
                send(id=message["id"], result={"decision": "accept"})
            elif str(message.get("id", "")).startswith("start "):
                thread = message["result"]["thread"]["id"]
                prompt = [{"type": "text", "text": "do it"}]
                send(id=thread, method="turn/start", params={"threadId": thread, "input": prompt})
            done = [each for each in told if each.get("method") == "turn/completed"]
            if len(done) == count:
                break

    asked = [each["params"] for each in told if each.get("method", "").endswith("requestApproval")]
    assert [each["reason"] for each in asked] == ["May I make it?"] * count
    assert len({each["threadId"] for each in asked}) == count
    assert [each["params"]["turn"]["status"] for each in done] == ["completed"] * count
    assert len(stage.requests) == 2 * count
