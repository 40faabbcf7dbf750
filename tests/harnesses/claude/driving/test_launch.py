from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.errors import Unsupported
from dragoman.harnesses.claude.driving.launch import session_launch, turn_launch
from dragoman.harnesses.contract.transport import OneShot
from dragoman.model.intents import OpenSession, ToolSpec

_ID = "11111111-2222-4333-8444-555555555555"


def _argv(**opening: Any) -> list[str]:
    return list(session_launch("claude", None, OpenSession(cwd="/w", **opening)).argv)


def _after(argv: list[str], flag: str) -> str:
    return argv[argv.index(flag) + 1]


def test_a_new_session_reads_and_prints_lines_and_asks_its_host() -> None:
    argv = _argv(access="acceptEdits", asking="on-request", session_id=_ID, model="opus")
    assert argv[:2] == ["claude", "-p"]
    assert _after(argv, "--input-format") == _after(argv, "--output-format") == "stream-json"
    assert _after(argv, "--permission-mode") == "acceptEdits"
    assert _after(argv, "--permission-prompt-tool") == "stdio"
    assert _after(argv, "--session-id") == _ID
    assert _after(argv, "--model") == "opus"
    assert "--forward-subagent-text" in argv


def test_an_agent_that_asks_no_one_has_no_one_to_ask() -> None:
    assert "--permission-prompt-tool" not in _argv(access="default", asking="never")


@pytest.mark.parametrize(
    ("access", "mode"),
    [
        ("read-only", "plan"),
        ("workspace-write", "default"),
        ("danger-full-access", "bypassPermissions"),
    ],
)
def test_the_words_of_other_harnesses_are_modes(access: str, mode: str) -> None:
    assert _after(_argv(access=access), "--permission-mode") == mode


def test_sessions_are_resumed_and_forked() -> None:
    assert _after(_argv(resume=_ID), "--resume") == _ID
    assert "--fork-session" not in _argv(resume=_ID)
    forked = _argv(fork=_ID, session_id="22222222-2222-4333-8444-555555555555")
    assert _after(forked, "--resume") == _ID
    assert "--fork-session" in forked
    assert _after(forked, "--session-id").startswith("2222")


def test_our_tools_are_servers_in_this_process_and_allowed() -> None:
    tools = [
        ToolSpec(name="a", description="A", input_schema={}),
        ToolSpec(name="b", description="B", input_schema={}, namespace="other"),
    ]
    argv = _argv(tools=tools)
    servers = json.loads(_after(argv, "--mcp-config"))["mcpServers"]
    assert {name: server["type"] for name, server in servers.items()} == {
        "dragoman": "sdk",
        "other": "sdk",
    }
    assert _after(argv, "--allowed-tools") == "mcp__dragoman__a,mcp__other__b"


def test_settings_and_options_are_given_by_claudes_own_names() -> None:
    argv = _argv(
        config={"effort": "low", "max_budget_usd": 2, "permissions": {"allow": ["Bash(ls)"]}},
        add_dirs=["/a", "/b"],
        instructions="Be brief.",
        ephemeral=True,
    )
    assert _after(argv, "--effort") == "low"
    assert _after(argv, "--max-budget-usd") == "2"
    assert json.loads(_after(argv, "--settings")) == {"permissions": {"allow": ["Bash(ls)"]}}
    assert [argv[at + 1] for at, word in enumerate(argv) if word == "--add-dir"] == ["/a", "/b"]
    assert _after(argv, "--append-system-prompt") == "Be brief."
    assert "--no-session-persistence" in argv


def test_what_an_older_release_lacks_is_left_out() -> None:
    launch = session_launch("claude", (2, 1, 197), OpenSession(cwd="/w"))
    assert "--forward-subagent-text" not in launch.argv


def test_a_claude_around_us_is_not_inherited_and_root_is_allowed_only_full_access() -> None:
    full = session_launch("claude", None, OpenSession(cwd="/w", access="bypassPermissions"))
    asks = session_launch("claude", None, OpenSession(cwd="/w", access="default"))
    assert full.env["CLAUDECODE"] == full.env["CLAUDE_CODE_SESSION_ID"] == ""
    assert full.env_for_root == {"IS_SANDBOX": "1"}
    assert asks.env_for_root == {}
    assert "IS_SANDBOX" not in full.env


def test_what_claude_cannot_do_is_refused() -> None:
    with pytest.raises(Unsupported):
        session_launch("claude", None, None)
    with pytest.raises(Unsupported):
        _argv(personality="pirate")
    for shot in (
        OneShot(prompt="x", cwd="/w", images=("a.png",)),
        OneShot(prompt="x", cwd="/w", output_schema="s.json"),
        OneShot(prompt="x", cwd="/w", profile="p"),
    ):
        with pytest.raises(Unsupported):
            turn_launch("claude", None, shot)


def test_a_single_prompt_is_an_argument_even_if_it_looks_like_an_option() -> None:
    launch = turn_launch(
        "claude", None, OneShot(prompt="--help", cwd="/w", sandbox="plan", resume=_ID)
    )
    assert launch.argv[-2:] == ("--", "--help")
    assert not launch.stdin
    assert "--input-format" not in launch.argv
