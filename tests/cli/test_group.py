"""The group of commands that click knows."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest

from dragoman.cli.group import dragoman, locate, report
from dragoman.cli.main import COMMANDS


def test_click_knows_every_command() -> None:
    context = click.Context(dragoman)

    assert dragoman.list_commands(context) == list(COMMANDS)
    for name in COMMANDS:
        command = dragoman.get_command(context, name)
        assert isinstance(command, click.Command)
        assert command.name == name
    assert dragoman.get_command(context, "translate") is None


def test_errors_of_click_are_shown_with_their_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert report(click.UsageError("not like this")) == 2
    assert report(click.ClickException("it failed")) == 1
    assert report(click.Abort()) == 130

    assert capsys.readouterr().err == "Error: not like this\nError: it failed\n"


def test_an_error_that_knows_its_command_keeps_it() -> None:
    own = click.Context(click.Command("own"), info_name="own")
    problem = click.UsageError("no", own)
    other = ValueError("none of click's")

    locate(problem, "run")
    locate(other, "run")

    assert problem.ctx is own
    assert not hasattr(other, "ctx")


def test_importing_a_command_imports_no_click() -> None:
    modules = ", ".join(sorted({module for module, _ in COMMANDS.values()} - _THEIR_OWN))
    script = f"import sys, {modules}; print([each for each in sys.modules if each == 'click'])"

    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )

    assert (done.stdout, done.stderr) == ("[]\n", "")


_THEIR_OWN = {
    f"dragoman.cli.commands.{name}"
    for name in ("convert", "policy", "rehearse", "replay", "servers.relay")
}
"""These define a group of commands, or use a type that only click has."""
