"""The plug-in that makes every agent of opencode ask, run by Node: opencode's own runtime is no part of the suite."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import Any
from urllib.parse import unquote

import pytest

from dragoman.harnesses.opencode.driving.access import unguarded
from dragoman.harnesses.opencode.driving.transports import guard_address, server_variables

_DEFAULTS = {"*": "allow", "doom_loop": "ask", "external_directory": "ask"}
_ACTIONS = {"deny": 0, "ask": 1, "allow": 2}
_SCRIPT = """
import { DragomanGuard } from "./guard.mjs"
import { readFileSync } from "node:fs"
const made = []
for (const config of JSON.parse(readFileSync(0, "utf8"))) {
  const guard = await DragomanGuard()
  await guard.config(config)
  const output = { env: { OPENCODE_SERVER_PASSWORD: "secret", KEPT: "1" } }
  await guard["shell.env"]({ sessionID: "ses_1" }, output)
  made.push({ config, env: output.env })
}
console.log(JSON.stringify(made))
"""
_CONFIGS: list[dict[str, Any]] = [
    {},
    {"permission": "allow"},
    {"permission": {"*": "allow"}},
    {"permission": {"*": "deny", "read": "allow"}},
    {"permission": {"*": "ask", "bash": "allow"}},
    {"permission": {"bash": {"git *": "allow", "rm *": "deny"}}},
    {"permission": {"bash": {"*": "deny", "git *": "allow"}, "edit": "deny"}},
    {"permission": {"bash": "allow", "*": "allow", "mine_*": "allow"}},
    {"permission": {"external_directory": "allow", "read": {"*.env": "deny"}}},
    {"agent": {"deploy": {"permission": {"bash": "allow"}}, "plan": {"permission": "allow"}}},
    {"agent": {"loose": {"permission": {"*": "allow", "edit": {"*": "allow"}}}}},
    {"mcp": {"tick ets": {"type": "local", "command": ["x"], "environment": {"A": "1"}}}},
]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What the plug-in makes of each configuration."""
    if shutil.which("node") is None:
        if os.environ.get("CI"):
            pytest.fail("node is not here: it runs the plug-in")
        pytest.skip("node is not here: it runs the plug-in")
    folder = tmp_path_factory.mktemp("guard")
    shutil.copy(unquote(guard_address().removeprefix("file://")), folder / "guard.mjs")
    (folder / "script.mjs").write_text(_SCRIPT, encoding="utf-8")
    done = subprocess.run(
        ["node", str(folder / "script.mjs")],
        input=json.dumps(_CONFIGS),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _rules(*permissions: Any) -> list[dict[str, str]]:
    """Permissions as opencode lists them: in order, the last that fits decides."""
    rules: list[dict[str, str]] = []
    for permission in permissions:
        given = {"*": permission} if isinstance(permission, str) else permission or {}
        for name, value in given.items():
            patterns = {"*": value} if isinstance(value, str) else value
            rules += [
                {"permission": name, "pattern": pattern, "action": action}
                for pattern, action in patterns.items()
            ]
    return rules


def _decided(rules: list[dict[str, str]], permission: str, word: str) -> str:
    found = "ask"
    for rule in rules:
        fits = rule["permission"] in ("*", permission) and rule["pattern"] in ("*", word)
        found = rule["action"] if fits else found
    return found


def test_nothing_that_changes_something_is_allowed(guarded: list[dict[str, Any]]) -> None:
    for made in guarded:
        config = made["config"]
        agents = [
            {
                "name": name,
                "permission": _rules(_DEFAULTS, config["permission"], agent["permission"]),
            }
            for name, agent in [("build", {"permission": None}), *config["agent"].items()]
        ]
        assert unguarded(agents) is None, config


def test_what_the_user_denies_stays_denied_and_nothing_becomes_wider(
    guarded: list[dict[str, Any]],
) -> None:
    for before, made in zip(_CONFIGS, guarded, strict=True):
        theirs = _rules(_DEFAULTS, before.get("permission"))
        ours = _rules(_DEFAULTS, made["config"]["permission"])
        for permission in ("bash", "edit", "read", "task", "webfetch", "external_directory", "x"):
            for word in ("ls", "git *", "rm *", "*.env"):
                was, now = (_decided(each, permission, word) for each in (theirs, ours))
                assert _ACTIONS[now] <= _ACTIONS[was], (before, permission, word, was, now)
                if permission in ("read", "task"):
                    assert now == was, "it reads as freely as before"


def test_agents_that_only_read_stay_so(guarded: list[dict[str, Any]]) -> None:
    for made in guarded:
        for name in ("plan", "explore"):
            own = _rules(made["config"]["agent"][name]["permission"])
            assert _decided(own, "edit", "x") in ("deny", "ask")
            assert own[0] == {"permission": "edit", "pattern": "*", "action": "deny"}


def test_commands_and_servers_do_not_get_the_password(guarded: list[dict[str, Any]]) -> None:
    password = next(iter(server_variables({}, "secret")))
    for made in guarded:
        assert made["env"] == {password: "", "KEPT": "1", "OPENCODE_SESSION_ID": "ses_1"}
    config = guarded[-1]["config"]
    assert config["mcp"]["tick ets"]["environment"] == {"A": "1", password: ""}
    assert config["permission"]["tick_ets_*"] == "ask"
