from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from dragoman.cli.commands.demo import _make_workspace, _only_edits, _script, demo
from dragoman.model.messages import ApprovalRequested
from dragoman.rehearsal.script import Patch, Pause, Say, Slow

HAS_CODEX = bool(shutil.which("codex") or find_spec("codex_cli_bin"))


def test_the_test_of_the_workspace_fails_before_the_change(tmp_path: Path) -> None:
    workspace = _make_workspace(tmp_path / "greeter")

    done = subprocess.run([sys.executable, "-m", "unittest"], cwd=workspace, capture_output=True)

    assert done.returncode == 1
    assert b"'Hello Ada' != 'Hello, Ada!'" in done.stderr


def test_the_script_can_be_played_with_or_without_pauses() -> None:
    [slow], [quick] = _script(quick=False).turns, _script(quick=True).turns

    assert any(isinstance(step, Pause | Slow) for step in slow.steps)
    assert not any(isinstance(step, Pause | Slow) for step in quick.steps)
    assert any(isinstance(step, Patch) for step in quick.steps)
    assert any(isinstance(step, Say) and step.phase == "final_answer" for step in quick.steps)


def test_only_the_change_is_asked_about() -> None:
    assert _only_edits(ApprovalRequested(approval_id="a", kind="edit")) is None
    assert _only_edits(ApprovalRequested(approval_id="b", kind="command")) is True


@pytest.mark.skipif(
    not HAS_CODEX and not os.environ.get("CI"), reason="the agent's program is not on this machine"
)
def test_the_real_agent_fixes_the_test(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def mkdtemp(prefix: str) -> str:
        return str(tmp_path)

    monkeypatch.setattr("tempfile.mkdtemp", mkdtemp)

    assert demo.main(["--quick", "--yes"], standalone_mode=False) == 0

    shown = capsys.readouterr().out
    assert "All tests pass now." in shown
    assert "✓ completed" in shown
    assert "1 approval" in shown
    assert 'return f"Hello, {name}!"' in (tmp_path / "greeter" / "greet.py").read_text("utf-8")
    [session] = (tmp_path / "home").rglob("rollout-*.jsonl")
    for step in ("read it", "see it again"):
        [line] = [line for line in shown.splitlines() if line.startswith(step)]
        done = subprocess.run(
            line.removeprefix(step), shell=True, capture_output=True, timeout=60, check=True
        )
        assert b"All tests pass now." in done.stdout
    assert str(session) in shown
