"""What only the real Claude Code can show: its own requests, its files, its processes."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

from dragoman.rehearsal import Rehearsal
from support.agents.by_hand import by_hand
from support.agents.fixtures import ClaudeEnv
from support.agents.onlookers import marked, wait_until

_SECONDS = 60
_DRAGOMAN = str(Path(sys.executable).with_name("dragoman"))
_EXAMPLES = Path(__file__).parents[2] / "examples" / "rehearsals"


def test_the_environment_for_tests_is_complete_and_isolated(
    claude_program: str, claude_env: ClaudeEnv, tmp_path: Path, isolated_home: Path
) -> None:
    before = sorted(isolated_home.rglob("*"))
    rehearsal, env = claude_env("- run: echo one\n- say: Hello.")

    done = subprocess.run(
        [claude_program, "-p", "hi"],
        env=env,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )

    assert (done.returncode, done.stdout) == (0, "Hello.\n"), done.stderr
    assert rehearsal.requests[-1].outputs[0].startswith("one\n")
    assert rehearsal.unscripted == []
    assert sorted(isolated_home.rglob("*")) == before
    assert all(
        env[name].startswith(str(rehearsal.home))
        for name in ("HOME", "TMPDIR", "CLAUDE_CONFIG_DIR")
    )
    assert [*rehearsal.home.glob(".claude/projects/*/*.jsonl")]


def test_a_command_of_rehearse_can_be_claude_and_touches_no_home(
    claude_program: str, tmp_path: Path
) -> None:
    home, temporary, work = (tmp_path / name for name in ("home", "tmp", "work"))
    for folder in (home, temporary, work):
        folder.mkdir()
    folders = {"HOME": str(home), "CLAUDE_CODE_TMPDIR": str(temporary)}
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    (bin_ / "claude").symlink_to(claude_program)

    done = subprocess.run(
        [_DRAGOMAN, "rehearse", str(_EXAMPLES / "hello.yaml"), "--", "claude", "-p", "hi"],
        env={**os.environ, **folders, "PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}"},
        cwd=work,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )

    assert (done.returncode, done.stdout) == (0, "Hello from the stand-in model.\n"), done.stderr
    assert done.stderr == ""
    assert [*home.rglob("*"), *temporary.rglob("*"), *work.rglob("*")] == []
    wait_until(lambda: not marked(str(home)), _SECONDS)


def test_requests_beside_the_conversation_take_no_step(tmp_path: Path) -> None:
    """Suggestions for the next prompt and summaries of a sub-agent's work come in the same session."""
    script = """\
turns:
- - agent: "HELPER: compute"
  - run: echo one
  - say: First.
- - say: Second.
- - say: Third.
- - say: Fourth.
- when: HELPER
  steps: [{run: echo seven}, {say: It is 7.}]
"""
    with (
        Rehearsal(script, agent="claude") as stage,
        by_hand("claude", stage, tmp_path) as running,
    ):
        lines: Any = running
        options = {"promptSuggestions": True, "agentProgressSummaries": True}
        lines.lines.send(
            type="control_request",
            request_id="init",
            request={"subtype": "initialize", **options},
        )
        said: list[Any] = []
        for prompt in ("one", "two", "three"):
            running.prompt(prompt)
            said.append([text for kind, text in running.until("ended") if kind == "said"])
        # The next prompt is suggested after a turn, in a request that carries the conversation and its tools.
        suggested = running.until("suggests")
        running.prompt("four")
        said.append([text for kind, text in running.until("ended") if kind == "said"])

    assert [texts[-1] for texts in said] == ["First.", "Second.", "Third.", "Fourth."]
    assert suggested[-1] == ("suggests", "play the next turn")
    assert stage.unscripted == []
    assert [other for other in stage.others if other.body.get("tools")]


@pytest.mark.parametrize("subtype", ["generate_session_title", "side_question"])
def test_a_request_that_a_client_makes_is_not_a_prompt(subtype: str, tmp_path: Path) -> None:
    with (
        Rehearsal("- say: Hello.", agent="claude") as stage,
        by_hand("claude", stage, tmp_path) as running,
    ):
        lines: Any = running
        words = {"description": "fix the test", "question": "what is it?"}
        lines.lines.send(
            type="control_request", request_id="1", request={"subtype": subtype, **words}
        )
        answer: dict[str, Any] = lines.lines.receive()
        while answer["type"] != "control_response":
            answer = lines.lines.receive()
        running.prompt("hi")
        events = running.until("ended")

    assert "Rehearsal" in str(answer)
    assert ("said", "Hello.") in events
    assert [asked.place.prompt for asked in stage.requests] == ["hi"]


def test_a_command_in_the_background_is_gone_with_the_program(tmp_path: Path) -> None:
    mark = str(uuid.uuid4())
    script = f"""\
- tool: {{name: Bash, arguments: {{command: "sleep 1000 # {mark}", run_in_background: true}}}}
- say: Started.
"""
    with (
        Rehearsal(script, agent="claude") as stage,
        by_hand("claude", stage, tmp_path) as running,
    ):
        running.prompt("hi")
        running.until("ended")
        home = str(stage.claude_home)
        assert marked(home)

    wait_until(lambda: not marked(home), _SECONDS)


def test_a_question_to_the_user_gets_its_answer(tmp_path: Path) -> None:
    script = """\
claude: {permissions: {defaultMode: default}}
turns:
- - ask: {question: "Which one?", options: [Left, Right]}
  - say: Thanks.
"""
    with (
        Rehearsal(script, agent="claude") as stage,
        by_hand("claude", stage, tmp_path) as running,
    ):
        running.prompt("hi")
        request: Any = running.until("asks")[-1][1]
        assert request["request"]["tool_name"] == "AskUserQuestion"
        request["request"]["input"]["answers"] = {"Which one?": "Right"}
        running.approve(request)
        events = running.until("ended")

    assert ("said", "Thanks.") in events
    assert "Right" in stage.requests[-1].outputs[0]


def test_a_compacted_conversation_continues_with_the_next_turn(tmp_path: Path) -> None:
    script = "turns: [[{run: echo one}, {say: First.}], [{say: Second.}], [{run: echo two}, {say: Third.}]]"
    with (
        Rehearsal(script, agent="claude") as stage,
        by_hand("claude", stage, tmp_path) as running,
    ):
        said: list[str] = []
        for prompt in ("one", "/compact", "two", "three"):
            running.prompt(prompt)
            said += [text for kind, text in running.until("ended") if kind == "said"]

    assert said == ["First.", "Second.", "Third."]
    assert [asked.place.purpose for asked in stage.requests].count("summary") == 1
    assert stage.unscripted == []
