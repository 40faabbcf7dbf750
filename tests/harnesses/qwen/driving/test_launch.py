"""How Qwen Code is started."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.errors import Unsupported
from dragoman.harnesses.contract.transport import OneShot
from dragoman.harnesses.qwen.driving.launch import session_launch, turn_launch
from dragoman.harnesses.qwen.driving.modes import is_wider, native_mode, widened
from dragoman.model.intents import OpenSession, ToolSpec


def _argv(**opening: Any) -> list[str]:
    return [*session_launch("qwen", None, OpenSession(cwd="/w", **opening)).argv]


def test_a_process_for_a_session() -> None:
    argv = _argv(access="yolo", session_id="s", model="m", add_dirs=["/more"], ephemeral=True)

    assert argv[:3] == ["qwen", "--input-format", "stream-json"]
    for words in (
        ["--approval-mode", "yolo"],
        ["--session-id", "s"],
        ["--model", "m"],
        ["--add-dir", "/more"],
        ["--chat-recording=false"],
    ):
        assert " ".join(words) in " ".join(argv)


def test_sub_agents_are_off_where_their_permission_could_not_be_asked_for() -> None:
    assert "--exclude-tools=agent" in _argv(access="default")
    assert "--exclude-tools=agent" in _argv(access="auto-edit")
    assert "--exclude-tools=agent" not in _argv(access="yolo")
    assert "--exclude-tools=agent" not in _argv(access="plan")
    assert not [
        each for each in _argv(access="default", config={"exclude_tools": []}) if "exclude" in each
    ]


def test_a_session_that_goes_on_keeps_its_id_and_a_fork_gets_one() -> None:
    resumed, forked = _argv(resume="s", session_id="x"), _argv(fork="s", session_id="x")

    assert resumed[-3:-1] == ["--resume", "s"] or "--resume s" in " ".join(resumed)
    assert "--session-id" not in resumed
    assert "--resume s --fork-session" in " ".join(forked)
    assert "--session-id" not in forked  # the program refuses both at once


def test_our_tools_are_trusted_and_shown_to_the_model() -> None:
    argv = _argv(tools=[ToolSpec(name="lookup", description="", input_schema={})])
    config = json.loads(argv[argv.index("--mcp-config") + 1])

    assert config["mcpServers"]["dragoman"] == {
        "type": "sdk",
        "name": "dragoman",
        "trust": True,
        "alwaysLoadTools": True,
    }


def test_settings_are_options_by_their_names() -> None:
    argv = _argv(config={"max_session_turns": 3, "allowed-tools": ["a", "b"], "effort": "low"})

    assert "--max-session-turns=3" in argv
    assert "--allowed-tools=a" in argv
    assert "--allowed-tools=b" in argv
    assert not [each for each in argv if "effort" in each]
    with pytest.raises(Unsupported, match=r"settings\.json"):
        _argv(config={"general": {}})


def test_a_process_for_one_prompt() -> None:
    launch = turn_launch("qwen", None, OneShot(prompt="-x", cwd="/w", sandbox="full", fork="s"))

    assert launch.argv[-1] == "--prompt=-x"
    assert "--approval-mode yolo" in " ".join(launch.argv)
    assert "--resume s --fork-session" in " ".join(launch.argv)
    assert not launch.stdin
    with pytest.raises(Unsupported):
        turn_launch("qwen", None, OneShot(prompt="x", cwd="/w", images=("/a.png",)))


def test_which_mode_reaches_further() -> None:
    assert native_mode("read-only") == "plan"
    assert native_mode("auto-edit") == "auto-edit"
    assert is_wider("yolo", "default")
    assert is_wider("unheard-of", "yolo")
    assert not is_wider("plan", "default")
    assert widened("plan") == "auto-edit"
    assert widened("yolo") == "yolo"
