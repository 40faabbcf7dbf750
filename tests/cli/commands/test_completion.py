from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dragoman.cli.main import main
from support.archive.home import make_home
from support.archive.saved_sessions import session_id

DRAGOMAN = Path(sys.executable).with_name("dragoman")
SECONDS = 60


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_one_that_the_shell_can_read(
    shell: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["completion", shell]) == 0
    script = tmp_path / "script"
    script.write_text(capsys.readouterr().out, encoding="utf-8")

    if shutil.which(shell) is None and "CI" not in os.environ:
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run([shell, "-n", script], capture_output=True, timeout=SECONDS)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_shell_without_a_script_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "tcsh"]) == 2
    assert "'tcsh' is not one of" in capsys.readouterr().err


def test_bash_completes_a_format_with_the_real_program(tmp_path: Path) -> None:
    env = {
        **os.environ,
        "PATH": f"{DRAGOMAN.parent}:{os.environ['PATH']}",
        "DRAGOMAN_CACHE": str(tmp_path),
        "CODEX_HOME": str(tmp_path),
        "_DRAGOMAN_COMPLETE": "bash_complete",
        "COMP_WORDS": "dragoman convert --to ma",
        "COMP_CWORD": "3",
    }
    done = subprocess.run([DRAGOMAN], env=env, capture_output=True, timeout=SECONDS)
    assert done.stdout.decode().split() == ["plain,markdown"]


@pytest.mark.parametrize("command", ["replay", "export"])
def test_bash_completes_a_session_where_a_file_may_stand(command: str, tmp_path: Path) -> None:
    make_home(tmp_path / "home")
    env = {
        **os.environ,
        "PATH": f"{DRAGOMAN.parent}:{os.environ['PATH']}",
        "DRAGOMAN_CACHE": str(tmp_path / "cache"),
        "CODEX_HOME": str(tmp_path / "home"),
    }
    subprocess.run([DRAGOMAN, "sessions"], env=env, capture_output=True, timeout=SECONDS)
    lines = f"""
        eval "$(dragoman completion bash)"
        compopt() {{ :; }}  # bash has it only while it completes
        COMP_WORDS=(dragoman {command} {session_id(1)}) COMP_CWORD=2
        _dragoman_completion dragoman
        echo "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", lines], env=env, capture_output=True, timeout=SECONDS)
    assert done.stdout.decode().split() == [session_id(1)], done.stderr
