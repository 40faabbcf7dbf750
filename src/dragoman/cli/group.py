"""The group of all commands for click: help, completion, and command lines with a mistake or something unusual."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from dragoman import __version__
from dragoman.cli.declaring import DeclaredCommand
from dragoman.cli.main import COMMANDS
from dragoman.cli.streams import reader_left


class _Commands(click.Group):
    """A group that imports a command's module only when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(COMMANDS[cmd_name][0])
        command = getattr(module, cmd_name)
        if isinstance(command, DeclaredCommand):
            return command.for_click()
        assert isinstance(command, click.Command)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # click would report it as a failure
            return reader_left()

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="dragoman")
def dragoman() -> None:
    """Read everything that a coding agent has written, and drive it live, as one typed stream of messages."""


def report(problem: BaseException) -> int:
    """Show an error of click; returns the exit code."""
    if isinstance(problem, click.exceptions.NoArgsIsHelpError):
        click.echo(problem.format_message(), err=True)
        return 2
    if isinstance(problem, click.ClickException):
        problem.show()
        return problem.exit_code
    return 130


def locate(problem: Exception, name: str) -> None:
    """Name the command that raised a usage error, as click does for those that it runs: the error then shows its usage."""
    if not isinstance(problem, click.UsageError) or problem.ctx is not None:
        return
    whole = click.Context(dragoman, info_name="dragoman")
    command = dragoman.get_command(whole, name)
    if command is not None:
        context = click.Context(command, info_name=name, parent=whole)
        vars(problem).update(ctx=context, cmd=command)
