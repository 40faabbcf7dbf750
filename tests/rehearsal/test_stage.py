from __future__ import annotations

import asyncio
import json
import os
import socket
import tempfile
import threading
import tomllib
from pathlib import Path
from typing import Any

import pytest

from dragoman.rehearsal import BadScript, Rehearsal, RehearsalFailed, Script
from dragoman.rehearsal.agents.homes import NotOurs


def test_a_rehearsal_leads_the_agent_to_the_stand_in_model() -> None:
    script = "{turns: [{say: Hello.}], model: m, retries: 3, config: {a: {b: 1}}}"

    with Rehearsal(script, config={"a": {"c": 2}}) as stage:
        config = tomllib.loads((stage.codex_home / "config.toml").read_text(encoding="utf-8"))
        assert config["model_providers"]["rehearsal"]["base_url"] == stage.url
        assert config["model_providers"]["rehearsal"]["stream_max_retries"] == 3
        assert config["model"] == "m"
        assert config["a"] == {"b": 1, "c": 2}
        assert stage.env["CODEX_HOME"] == str(stage.codex_home)
        assert stage.environ["PATH"] == os.environ["PATH"]
        home = stage.codex_home

    assert not home.exists()


def test_a_rehearsal_for_claude_has_its_own_home(tmp_path: Path) -> None:
    script = "{turns: [{say: Hello.}], model: claude-x, retries: 2, claude: {a: {b: 1}}}"

    with Rehearsal(script, agent="claude", config={"a": {"c": 2}}, home=tmp_path) as stage:
        settings = json.loads((tmp_path / ".claude" / "settings.json").read_text(encoding="utf-8"))
        assert stage.claude_home == tmp_path
        assert settings["a"] == {"b": 1, "c": 2}
        assert stage.env["ANTHROPIC_MODEL"] == "claude-x"
        assert stage.env["HOME"] == str(tmp_path)
        assert "CODEX_HOME" not in stage.env


def test_a_rehearsal_for_both_leaves_the_commands_home_alone() -> None:
    with Rehearsal("{turns: [], model: claude-x}", agent=("codex", "claude")) as stage:
        config = tomllib.loads((stage.codex_home / "config.toml").read_text(encoding="utf-8"))
        assert config["model"] == "gpt-5.5"
        assert stage.env["ANTHROPIC_MODEL"] == "claude-x"
        assert stage.env["CODEX_HOME"] == str(stage.codex_home)
        assert stage.env["CLAUDE_CONFIG_DIR"] == str(stage.claude_home / ".claude")
        assert "HOME" not in stage.env


def test_an_unknown_agent_is_one_sentence() -> None:
    unknown: Any = "cursor"

    with pytest.raises(
        RehearsalFailed, match=r"unknown agent 'cursor' \(use codex, claude, gemini, "
    ):
        Rehearsal(Script(), agent=unknown)


def test_nothing_is_left_running() -> None:
    before = set(threading.enumerate())

    with Rehearsal("- say: Hello.") as stage:
        port = int(stage.url.rpartition(":")[2].partition("/")[0])
        assert set(threading.enumerate()) > before

    assert set(threading.enumerate()) == before
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), 5).close()


def test_closing_does_not_wait_for_a_silent_answer() -> None:
    with Rehearsal("- silence") as stage:
        port = int(stage.url.rpartition(":")[2].partition("/")[0])
        client = socket.create_connection(("127.0.0.1", port), 20)
        client.sendall(b'POST /v1/responses HTTP/1.1\r\ncontent-length: 14\r\n\r\n{"input":"hi"}')
        assert client.recv(10)

    with client:
        while client.recv(65536):
            continue  # to the end, which comes


def test_a_home_directory_of_ones_own_is_kept(tmp_path: Path) -> None:
    home = tmp_path / "home"

    with Rehearsal(Script(), home=home) as stage:
        assert stage.codex_home == home
    assert (home / "config.toml").exists()
    with Rehearsal(Script(), home=home):
        pass


def test_a_rehearsal_that_cannot_begin_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('model = "mine"', encoding="utf-8")
    before = set(threading.enumerate())

    with pytest.raises(NotOurs):
        Rehearsal("- say: Hello.", home=tmp_path).start()
    with pytest.raises(BadScript):
        Rehearsal("- sya: Hello.")
    with Rehearsal(Script()) as stage:
        port = int(stage.url.rpartition(":")[2].partition("/")[0])
        with pytest.raises(RehearsalFailed, match="the stand-in model cannot start"):
            Rehearsal(Script(), port=port).start()

    assert set(threading.enumerate()) == before


def test_before_it_begins_there_is_no_home() -> None:
    stage = Rehearsal(Script())

    assert (stage.requests, stage.others, stage.unscripted) == ([], [], [])
    with pytest.raises(RehearsalFailed, match="`with` statement"):
        _ = stage.codex_home


def test_a_rehearsal_can_be_used_from_asyncio() -> None:
    async def rehearse() -> Path:
        async with asyncio.timeout(20), Rehearsal("- say: Hello.") as stage:
            assert stage.codex_home.exists()
            return stage.codex_home

    assert not asyncio.run(rehearse()).exists()


def test_a_relative_home_is_the_callers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    with Rehearsal("- say: Hello.", home="kept") as stage:
        assert stage.env["CODEX_HOME"] == str(tmp_path / "kept")

    assert (tmp_path / "kept" / "config.toml").is_file()


def test_a_port_that_is_taken_is_one_sentence_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for _ in range(20):  # its thread ends at the same time as we give up on it
            with pytest.raises(
                RehearsalFailed, match=r"cannot start: address already in use \(port"
            ):
                Rehearsal("- say: Hello.", port=taken.getsockname()[1]).start()

    assert list(tmp_path.iterdir()) == []
