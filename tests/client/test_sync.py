from __future__ import annotations

import base64
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

import dragoman
from dragoman.errors import TurnFailed
from support.agents.stages import Stage

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
MakeStage = Callable[..., Stage]


def test_the_same_words_without_await(stage: MakeStage, repo: Path) -> None:
    play = stage("turns:\n- - think: hm\n  - say: first\n- - say: second\n- - say: third")
    with dragoman.sync.connect("codex", command=play.command, env=play.env) as codex:
        assert codex.state == "running"
        assert codex.facts is not None
        session = codex.start(cwd=repo)
        turn = session.run("one")
        kinds = [type(message).__name__ for message in turn]
        assert kinds[-1] == "TurnEnded"
        assert (turn.result().text, turn.result().outcome) == ("first", "completed")
        assert session.run("two").result().text == "second"
        fork = session.fork()
        assert fork.run("three").result().text == "third"
        session.rename("A name")
        assert session.read().title == "A name"
        assert codex.models()
        assert len(codex.saved_sessions().sessions) == 2
    assert "dragoman" not in [thread.name for thread in threading.enumerate()]


def test_one_thing_asked_and_answered(stage: MakeStage, repo: Path) -> None:
    play = stage("- say: Fixed.")
    result = dragoman.run("codex", "Fix it", cwd=repo, command=play.command, env=play.env)
    assert (result.outcome, result.text) == ("completed", "Fixed.")
    assert result.usage is not None
    assert result.session_id


@pytest.mark.parametrize("mode", ["app-server", "exec"])
def test_every_option_is_flat_and_a_relative_directory_is_the_callers(
    stage: MakeStage,
    repo: Path,
    mode: Literal["app-server", "exec"],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    play = stage("turns:\n- - say: one\n- - say: two")
    (repo / "more").mkdir()
    (repo / "look.png").write_bytes(PNG)
    monkeypatch.chdir(repo)

    result = dragoman.run(
        "codex",
        "Fix it",
        cwd=".",
        mode=mode,
        command=play.command,
        env=play.env,
        sandbox="read-only",
        model="gpt-5.4",
        images=["look.png"],
        effort="high",
        add_dirs=["more"],
    )

    assert (result.outcome, result.text) == ("completed", "one")
    asked = play.rehearsal.requests[-1].raw
    assert b'"gpt-5.4"' in asked
    assert b"data:image/png" in asked
    assert str(repo).encode() in asked
    old_way = dragoman.run(
        "codex",
        "And?",
        mode=mode,
        command=play.command,
        env=play.env,
        session={"model": "gpt-5.5", "resume": result.session_id},
        turn={"effort": "low"},
    )
    assert old_way.session_id == result.session_id


def test_tools_are_an_option_like_any_other(stage: MakeStage, repo: Path) -> None:
    def lookup(ticket: int) -> str:
        """What a ticket says."""
        return f"ticket {ticket}"

    play = stage("- tool: {name: lookup, arguments: {ticket: 7}}\n- say: done")
    result = dragoman.run(
        "codex", "Look", cwd=repo, command=play.command, env=play.env, tools=[lookup]
    )
    outputs = [m.output for m in result.messages if isinstance(m, dragoman.ToolResult)]
    assert outputs == ["ticket 7"]


@pytest.mark.parametrize("mode", ["app-server", "exec"])
def test_check_raises_what_went_wrong(stage: MakeStage, repo: Path, mode: str) -> None:
    play = stage("- fail: server_is_overloaded")
    how: dict[str, Any] = {"cwd": repo, "command": play.command, "env": play.env, "mode": mode}
    assert dragoman.run("codex", "Fix it", **how).outcome == "failed"
    with pytest.raises(TurnFailed) as caught:
        dragoman.run("codex", "Fix it", check=True, **how)
    assert caught.value.retryable


def test_what_cannot_be_started_is_raised_here(repo: Path) -> None:
    with pytest.raises(dragoman.AgentNotFound, match="is not there"):
        dragoman.run("codex", "Fix it", cwd=repo, command="/no/such/codex")
    with pytest.raises(dragoman.UsageError, match="no harness"):
        dragoman.sync.connect("nobody")
