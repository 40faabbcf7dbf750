"""A rehearsal keeps the real programs on this machine: no host name is looked up, nothing but loopback is contacted."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from support.agents.by_hand import program_of
from support.agents.offline import OfflineRun, can_go_offline, run_offline

_DRAGOMAN = str(Path(sys.executable).with_name("dragoman"))
_ARGUMENTS = {"codex": ["exec", "--skip-git-repo-check", "hi"], "claude": ["-p", "hi"]}
_SCRIPT = "- run: echo one\n- say: Hello.\n"
_SECONDS = 60

pytestmark = pytest.mark.skipif(not can_go_offline(), reason="needs a network namespace")


def _run(folder: Path, *command: str, **more: str) -> OfflineRun:
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), **more}
    return run_offline(command, folder, env=env, cwd=folder, seconds=_SECONDS)


def test_a_name_and_an_address_that_are_asked_for_are_seen(tmp_path: Path) -> None:
    words = """
import socket
try:
    socket.getaddrinfo("rehearsal.invalid", 443)
except OSError:
    pass
socket.create_connection(("203.0.113.7", 443), 5).close()
"""
    done = _run(tmp_path, sys.executable, "-c", words, RES_OPTIONS="timeout:1 attempts:1")

    assert done.exit_code == 0, done.stderr
    assert "rehearsal.invalid" in done.looked_up
    assert done.contacted == ["203.0.113.7:443"]


@pytest.mark.parametrize("agent", ["codex", "claude"])
def test_the_real_program_stays_on_this_machine(agent: str, tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(_SCRIPT, encoding="utf-8")
    program = str(program_of(agent))
    words = [_DRAGOMAN, "rehearse", "--harness", agent, str(script), "--", program]

    done = _run(tmp_path, *words, *_ARGUMENTS[agent])

    assert (done.exit_code, done.stdout.strip()) == (0, "Hello."), done.stderr
    assert (done.looked_up, done.contacted) == ([], [])
