from __future__ import annotations

import os
import sys

import pytest

from dragoman.rehearsal import foreground
from dragoman.rehearsal.foreground import CannotRun, run_in_foreground


def test_the_exit_code_is_that_of_the_command() -> None:
    command = [sys.executable, "-c", "raise SystemExit(3)"]

    assert run_in_foreground(command, os.environ) == 3
    assert foreground._run_on_windows(command, os.environ) == 3


def test_a_command_that_cannot_be_run_is_named() -> None:
    with pytest.raises(CannotRun, match="cannot run no-such-program: no such file or directory"):
        run_in_foreground(["no-such-program"], {})
