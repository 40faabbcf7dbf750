from __future__ import annotations

import asyncio
import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

import dragoman
from dragoman.cli.commands.replay import Player, replay
from dragoman.cli.live import keys
from dragoman.cli.live.keys import Key
from dragoman.cli.live.live import LiveView
from dragoman.cli.main import main
from dragoman.client.connecting import connect
from dragoman.errors import DragomanError, UsageError
from dragoman.harnesses import HARNESSES
from dragoman.model.messages import Message, Text, ToolCall
from dragoman.model.turns import fold
from dragoman.replay.timing import timed_messages
from dragoman.testing.likeness import differences

_SECONDS = 60
_PROGRAM = (
    "import sys; from dragoman.cli.commands.replay import replay; "
    "sys.exit(replay.main(sys.argv[1:], standalone_mode=False))"
)


@pytest.fixture
def recorded(runs: Path) -> Path:
    return runs / "0.166.0/patch_all.rollout.jsonl"


def stand_in(folder: Path, recording: Path, role: str) -> str:
    """A program that behaves as the agent did when the recording was made."""
    path = folder / "codex"
    words = [sys.executable, "-c", _PROGRAM, str(recording), "--as", role, "--speed", "0"]
    path.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def test_a_pipe_gets_the_plain_transcript_at_once(
    recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert replay.main([str(recorded)], standalone_mode=False) == 0

    said = capsys.readouterr().out
    assert "Patched." in said
    assert "\x1b" not in said


@pytest.mark.parametrize("role", [(), ("--as", "exec")])
def test_a_file_that_is_no_recording_is_an_error(tmp_path: Path, role: tuple[str, ...]) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a session\n" * 3, encoding="utf-8")
    with pytest.raises(DragomanError, match="in a known dialect"):
        replay.main([str(path), *role], standalone_mode=False)


def test_one_turn_of_a_session_found_by_its_id(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    monkeypatch.setenv("DRAGOMAN_CACHE", str(tmp_path / "cache"))
    source = runs / "0.166.0/err_then_ok.rollout.jsonl"
    session_id = next(iter(dragoman.read(source))).session_id
    assert session_id is not None
    path = tmp_path / "sessions" / f"rollout-2026-11-15T22-25-24-{session_id}.jsonl"
    path.parent.mkdir()
    path.write_bytes(source.read_bytes())

    assert replay.main([session_id, "--turn", "2"], standalone_mode=False) == 0

    turns = fold(dragoman.read(source))
    said = capsys.readouterr().out
    assert [step.text for step in turns[1].steps if isinstance(step, Text)][-1] in said
    assert replay.main([session_id[:13]], standalone_mode=False) == 0
    capsys.readouterr()
    assert replay.main(["--last", "--speed", "10"], standalone_mode=False) == 0
    assert "Second turn is fine." in capsys.readouterr().out
    for words in ([], [session_id, "--last"]):
        with pytest.raises(click.UsageError, match="an ID, a FILE or --last"):
            replay.main(words, standalone_mode=False)
    with pytest.raises(UsageError, match="no session 'nothing'"):
        replay.main(["nothing"], standalone_mode=False)
    with pytest.raises(UsageError, match="no turn 99"):
        replay.main([session_id, "--turn", "99"], standalone_mode=False)


def test_words_are_only_for_who_is_the_agent(recorded: Path) -> None:
    with pytest.raises(click.UsageError, match="app-server"):
        replay.main([str(recorded), "app-server"], standalone_mode=False)
    for words in (["--last", "--path", "/x"], [str(recorded), "--sped", "2"]):
        with pytest.raises(click.NoSuchOption, match=words[1]):
            replay.main(words, standalone_mode=False)


def test_on_a_terminal_it_is_the_same_view_as_a_run(
    recorded: Path, terminal: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys, "keyboard_of", lambda: None)
    screen = terminal()
    view = LiveView(screen, colour=True, width=60, animate=True)
    player = Player(view, speed=200, max_pause=0.01)

    assert asyncio.run(player.play(timed_messages(dragoman.read(recorded)))) == 0

    assert "Patched." in screen.screen
    assert any("Writing" in frame for frame in screen.frames)
    assert screen.cursor_is_shown


def test_keys_pause_and_change_the_speed(terminal: Callable[..., Any]) -> None:
    view = LiveView(terminal(), colour=False, width=60, animate=True)
    player = Player(view, speed=1, max_pause=5)

    async def story() -> None:
        player.press(Key("text", "++"))
        assert player.speed == 4
        player.press(Key("text", "-"))
        assert player.speed == 2
        player.press(Key("text", " "))
        assert view.footed == ["paused; press space to continue"]
        waiting = asyncio.ensure_future(player.wait(0))
        await asyncio.sleep(0)
        assert not waiting.done()
        player.press(Key("text", " "))
        await asyncio.wait_for(waiting, 5)
        assert view.footed == []
        player.press(Key("up"))

    asyncio.run(story())


def test_as_exec_it_prints_what_the_agent_prints(recorded: Path, tmp_path: Path) -> None:
    words = [stand_in(tmp_path, recorded, "exec"), "exec", "--json", "-c", "a=b", "do it"]

    done = subprocess.run(words, capture_output=True, check=True, timeout=_SECONDS)

    told = list(dragoman.read(done.stdout))
    limits = [each for each in HARNESSES[0].limits if each.applies("codex-exec", "0.166.0")]
    assert differences(fold(told), fold(dragoman.read(recorded)), limits) == []
    version = subprocess.run(
        [words[0], "--version"], capture_output=True, check=True, timeout=_SECONDS
    )
    assert version.stdout == b"codex-cli 0.166.0\n"


def test_our_own_driver_drives_a_rollout_as_if_it_were_live(recorded: Path, tmp_path: Path) -> None:
    command = stand_in(tmp_path, recorded, "app-server")

    async def story() -> list[Message]:
        async with asyncio.timeout(_SECONDS), connect("codex", command=command) as agent:
            session = await agent.start(cwd=tmp_path, sandbox="read-only", approvals="never")
            told = [message async for message in session.run("do it")]
            assert len((await session.read()).turns) == 1
            return told

    live = asyncio.run(story())

    limits = [each for each in HARNESSES[0].limits if each.applies("codex-app-server", "0.166.0")]
    assert differences(fold(live), fold(dragoman.read(recorded)), limits) == []
    assert any(isinstance(message, ToolCall) for message in live)


_OFFICIAL = """
import json, sys
from openai_codex import Codex, CodexConfig

with Codex(CodexConfig(codex_bin=sys.argv[1])) as codex:
    result = codex.thread_start(cwd=sys.argv[2]).run("do it")
    kinds = [item.root.type for item in result.items]
    print(json.dumps([result.final_response, kinds]))
"""


def test_the_official_library_runs_against_a_rollout(recorded: Path, tmp_path: Path) -> None:
    command = stand_in(tmp_path, recorded, "app-server")

    done = subprocess.run(
        [sys.executable, "-c", _OFFICIAL, command, str(tmp_path)],
        capture_output=True,
        check=True,
        timeout=_SECONDS,
    )

    answer, kinds = json.loads(done.stdout)
    assert answer == "Patched."
    assert kinds == ["userMessage", *["fileChange"] * 5, "agentMessage"]


@pytest.mark.parametrize("word", ["nan", "inf", "-inf"])
@pytest.mark.parametrize("option", ["--speed", "--max-pause"])
def test_a_speed_or_pause_is_a_finite_number(
    option: str, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", "--last", f"{option}={word}"]) == 2

    assert option in capsys.readouterr().err
