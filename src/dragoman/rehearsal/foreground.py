"""Running a command in the foreground, so that it never outlives us."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence

from dragoman.errors import UsageError, reason_of


class CannotRun(UsageError):
    """There is no such command, or it may not be run."""

    def __init__(self, command: str, problem: str) -> None:
        super().__init__(command, problem)
        self.command = command
        self.problem = problem

    def __str__(self) -> str:
        return f"cannot run {self.command}: {self.problem}"


def run_in_foreground(command: Sequence[str], env: Mapping[str, str]) -> int:
    """Run a command to its end; its exit code, as a shell would give it."""
    try:
        if sys.platform == "win32":
            return _run_on_windows(command, env)
        from dragoman.rehearsal.process_groups import run_in_group

        return run_in_group(command, env)
    except OSError as problem:
        raise CannotRun(command[0], reason_of(problem)) from problem


def _run_on_windows(command: Sequence[str], env: Mapping[str, str]) -> int:
    """There are no process groups to signal: the console gives Ctrl-C to the command and to us."""
    with subprocess.Popen(command, env=dict(env)) as child:
        try:
            while True:
                try:
                    return child.wait()
                except KeyboardInterrupt:
                    continue  # the command has it as well, and decides
        finally:
            child.kill()
