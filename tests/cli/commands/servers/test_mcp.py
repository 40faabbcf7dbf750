"""The command as an agent starts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from support.terminal.ptys import at_a_terminal

_RUNS = Path(__file__).parents[3] / "data" / "codex" / "runs"
_DRAGOMAN = str(Path(sys.executable).with_name("dragoman"))
_SECONDS = 60


def test_the_command_ends_with_its_client(tmp_path: Path) -> None:
    lines = (
        b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}\n'
        b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'  # the last line has no newline
    )
    done = subprocess.run(
        [_DRAGOMAN, "mcp", "--path", str(_RUNS / "0.142.0")],
        input=lines,
        capture_output=True,
        timeout=_SECONDS,
        check=True,
        env={**os.environ, "DRAGOMAN_CACHE": str(tmp_path / "cache")},
    )

    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["id"] for each in answers] == [0, 1]
    assert len(answers[1]["result"]["tools"]) == 6
    assert done.stderr == b""


def test_a_person_at_a_terminal_is_told_how_to_use_it(tmp_path: Path) -> None:
    with at_a_terminal([_DRAGOMAN, "mcp"], cwd=tmp_path) as shown:
        shown.wait_for("an agent starts this command", "dragoman mcp --help")
        assert shown.ended() == 2
