"""One script on both real agents: the same things happen."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from dragoman.rehearsal import Rehearsal
from dragoman.rehearsal.agents.known import USUAL_AGENTS, AgentName
from support.agents.by_hand import Event, by_hand, program_of

_SECONDS = 60
_EXAMPLES = Path(__file__).parents[2] / "examples" / "rehearsals"
_ALL = """\
turns:
- - think: I look first.
  - say: I will look.
  - plan: [doing: Look, todo: Fix]
  - run: cat note.txt
  - edit: {path: note.txt, old: old, new: new}
  - write: {path: other.txt, text: "written\\n"}
  - patch: |
      *** Begin Patch
      *** Update File: note.txt
      @@
      -new
      +newer
      *** End Patch
  - together: [run: echo one, run: echo two; exit 3]
  - plan: [done: Look, doing: Fix]
  - search: weather
  - read: other.txt
  - tokens: {input: 1234, cached: 1000, output: 56, reasoning: 7, written: 34}
  - say: All done.
- - run: cat note.txt
  - say: Second answer.
- - say: Third answer.
"""


@pytest.fixture(params=USUAL_AGENTS)
def agent(request: pytest.FixtureRequest) -> AgentName:
    return request.param


def _said(events: list[Event]) -> list[str]:
    return [text for kind, text in events if kind == "said"]


def _play(
    agent: AgentName, script: str, folder: Path, **options: Any
) -> tuple[Rehearsal, list[Event]]:
    """One prompt, to the end of its turn."""
    with (
        Rehearsal(script, agent=agent, **options) as stage,
        by_hand(agent, stage, folder) as running,
    ):
        running.prompt("do it")
        return stage, running.until("ended")


def test_every_kind_of_step_happens_in_several_turns_and_after_a_resume(
    agent: AgentName, tmp_path: Path
) -> None:
    (tmp_path / "note.txt").write_text("old\nend\n", encoding="utf-8")

    with Rehearsal(_ALL, agent=agent) as stage:
        with by_hand(agent, stage, tmp_path) as running:
            running.prompt("do it")
            first = running.until("ended")
            running.prompt("again")
            second = running.until("ended")
        with by_hand(agent, stage, tmp_path, running.session) as running:
            running.prompt("and again")
            third = running.until("ended")

    assert _said(first) == ["I will look.", "All done."]
    assert (_said(second), _said(third)) == (["Second answer."], ["Third answer."])
    assert first[-1] == second[-1] == third[-1] == ("ended", True)
    assert (tmp_path / "note.txt").read_text(encoding="utf-8") == "newer\nend\n"
    assert (tmp_path / "other.txt").read_text(encoding="utf-8") == "written\n"
    outputs = "\n".join(stage.requests[-1].outputs)
    assert all(words in outputs for words in ("old", "one", "two", "3", "written", "newer"))
    assert "I look first." in str(stage.requests[-1].body), "the agent keeps what the model thought"
    assert stage.unscripted == []


def test_a_helper_is_answered_by_its_own_turn(agent: AgentName, tmp_path: Path) -> None:
    script = """\
turns:
- - agent: "HELPER: compute"
  - run: echo meanwhile
  - say: It is at work.
- when: HELPER
  steps: [{run: touch helped.txt}, {say: It is 7.}]
"""
    stage, events = _play(agent, script, tmp_path)

    assert "It is at work." in _said(events)
    helpers = [asked for asked in stage.requests if asked.place.purpose == "agent"]
    assert helpers
    assert {asked.place.turn for asked in helpers} == {1}


def test_an_approval_is_asked_for_and_given(agent: AgentName, tmp_path: Path) -> None:
    script = """\
config: {approval_policy: on-request, sandbox_mode: read-only}
claude: {permissions: {defaultMode: default}}
turns:
- - run: {command: touch made.txt, escalate: Because.}
  - say: Made.
"""
    with (
        Rehearsal(script, agent=agent) as stage,
        by_hand(agent, stage, tmp_path) as running,
    ):
        running.prompt("do it")
        asked = running.until("asks")
        assert not (tmp_path / "made.txt").exists()
        running.approve(asked[-1][1])
        events = running.until("ended")

    assert "Because." in str(asked[-1][1])
    assert (tmp_path / "made.txt").exists()
    assert _said(events) == ["Made."]


def test_a_steer_changes_nothing_and_an_interrupt_ends_the_turn(
    agent: AgentName, tmp_path: Path
) -> None:
    script = """\
turns:
- - run: while [ ! -e go ]; do sleep 0.05; done
  - run: echo two
  - say: First.
- - run: while [ ! -e never ]; do sleep 0.05; done
  - say: This is never said.
- - say: Third.
"""
    with (
        Rehearsal(script, agent=agent) as stage,
        by_hand(agent, stage, tmp_path) as running,
    ):
        running.prompt("one")
        running.until("calls")
        running.steer("only the parser")
        running.until("steered")
        (tmp_path / "go").touch()
        first = running.until("ended")
        running.prompt("two")
        running.until("calls")
        running.interrupt()
        second = running.until("ended")
        running.prompt("three")
        third = running.until("ended")

    assert (_said(first), _said(third)) == (["First."], ["Third."])
    assert second[-1] == ("ended", False)
    assert "only the parser" in [asked.place.prompt for asked in stage.requests]
    assert stage.unscripted == []


_FAULTS = """\
retries: 1
turns:
- {when: key, steps: [http: {status: 401, headers: {retry-after: "0"}}]}
- {when: limit, steps: [http: {status: 429, headers: {retry-after: "0"}}]}
- {when: full, steps: [overflow]}
- {when: broken, steps: [fail: server_error]}
- {when: once, steps: [http: {status: 500, times: 1, headers: {retry-after: "0"}}, say: Fine.]}
- {when: lost, steps: [drop: {unanswered: true, times: 1}, say: Fine.]}
"""


def test_faults_reach_the_agent_and_are_over_when_the_script_says_so(
    agent: AgentName, tmp_path: Path
) -> None:
    ends: dict[str, tuple[Any, bool]] = {}
    with (
        Rehearsal(_FAULTS, agent=agent) as stage,
        by_hand(agent, stage, tmp_path) as running,
    ):
        for prompt in ("key", "limit", "full", "broken", "once", "lost"):
            running.prompt(prompt)
            events = running.until("ended")
            ends[prompt] = (events[-1][1], ("said", "Fine.") in events)

    failed, recovered = (False, False), (True, True)
    assert [ends[name] for name in ("key", "limit", "full", "broken")] == [failed] * 4
    assert [ends[name] for name in ("once", "lost")] == [recovered] * 2
    assert stage.unscripted == []


def test_one_command_can_use_both_agents(tmp_path: Path) -> None:
    with Rehearsal(_EXAMPLES / "hello.yaml", agent=USUAL_AGENTS) as stage:
        for words in (
            [program_of("codex"), "exec", "--skip-git-repo-check", "hi"],
            [program_of("claude"), "-p", "hi"],
        ):
            done = subprocess.run(
                [str(word) for word in words],
                env=stage.environ,
                cwd=tmp_path,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_SECONDS,
                check=False,
            )
            assert done.stdout.strip() == "Hello from the stand-in model."

    assert [asked.endpoint for asked in stage.requests] == ["/v1/responses", "/v1/messages"]


def test_only_the_conversation_takes_steps_of_the_script(tmp_path: Path) -> None:
    """Claude asks its model for more than answers: titles, side questions, counts of tokens."""
    with (
        Rehearsal("- say: Hello.", agent="claude") as stage,
        by_hand("claude", stage, tmp_path) as running,
    ):
        lines: Any = running
        for number, request in enumerate(
            (
                {"subtype": "generate_session_title", "description": "fix the test"},
                {"subtype": "side_question", "question": "what is it?"},
                {"subtype": "get_context_usage"},
            )
        ):
            lines.lines.send(type="control_request", request_id=str(number), request=request)
        running.prompt("hi")
        events = running.until("ended")

    assert _said(events) == ["Hello."]
    assert [asked.place.prompt for asked in stage.requests] == ["hi"]
    assert stage.others
