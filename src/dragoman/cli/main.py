"""``dragoman``: the list of commands, error messages and exit codes.

A command's module is imported only when it runs, so that ``dragoman --help`` is quick. Every error that
a user can cause is reported in one sentence: exit code 2 for a usage error, 1 for a failure.
"""

from __future__ import annotations

import gc
import importlib
import sys
from typing import Any

import click

from dragoman import __version__
from dragoman.cli.streams import reader_left
from dragoman.errors import DragomanError, UsageError, reason_of

_COMMANDS = {
    "run": ("dragoman.cli.commands.run", "Run one prompt and watch the agent work."),
    "chat": ("dragoman.cli.commands.chat", "Chat with an agent."),
    "serve": ("dragoman.cli.commands.serve", "Serve the page: watch, steer and approve agents."),
    "convert": (
        "dragoman.cli.commands.convert",
        "Convert a session file or a stream to another format.",
    ),
    "dialects": (
        "dragoman.cli.commands.dialects",
        "List the dialects to read and the formats to write.",
    ),
    "sessions": ("dragoman.cli.commands.sessions", "List saved sessions, newest first."),
    "show": ("dragoman.cli.commands.show", "Read a saved session."),
    "search": ("dragoman.cli.commands.search", "Search all saved sessions."),
    "tail": ("dragoman.cli.commands.tail", "Follow sessions while other programs write them."),
    "export": (
        "dragoman.cli.commands.export",
        "Write a session to a file: HTML, Markdown, text, JSON.",
    ),
    "usage": ("dragoman.cli.commands.usage", "Show tokens and cost of all sessions."),
    "replay": (
        "dragoman.cli.commands.replay",
        "Play a recorded session, or serve it as a live agent.",
    ),
    "demo": (
        "dragoman.cli.commands.demo",
        "Watch the real agent fix a test, without a key or a network.",
    ),
    "policy": (
        "dragoman.cli.commands.policy",
        "Try approval rules on a command, and see why they decide.",
    ),
    "rehearse": (
        "dragoman.cli.commands.rehearse",
        "Run a command against a scripted stand-in model.",
    ),
    "completion": (
        "dragoman.cli.commands.completion",
        "Print a completion script for bash, zsh or fish.",
    ),
    "harnesses": (
        "dragoman.cli.commands.harnesses",
        "List agents: what is installed, and what each can do.",
    ),
    "doctor": (
        "dragoman.cli.commands.doctor",
        "Check the installation, and say how to fix it.",
    ),
}


class _Commands(click.Group):
    """A group that imports a command's module only when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(_COMMANDS[cmd_name][0])
        command = getattr(module, cmd_name)
        assert isinstance(command, click.Command)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # click would report it as a failure
            return reader_left()

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in _COMMANDS.items()])


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="dragoman")
def dragoman() -> None:
    """Read everything that a coding agent has written, and drive it live, as one typed stream of messages."""


def main(arguments: list[str] | None = None) -> Any:
    """Run a command; returns the exit code."""
    try:
        try:
            return _command(arguments)
        except Exception as problem:
            if not _set_index_aside(problem):
                raise
        return _command(arguments)
    except click.exceptions.NoArgsIsHelpError as no_command:
        click.echo(no_command.format_message(), err=True)
        return 2
    except click.ClickException as problem:
        problem.show()
        return problem.exit_code
    except click.Abort:
        return 130
    except DragomanError as problem:
        click.echo(f"dragoman: {problem}", err=True)
        return 2 if isinstance(problem, UsageError) else 1
    except OSError as problem:
        what = f"{problem.filename}: " if problem.filename is not None else ""
        click.echo(f"dragoman: {what}{reason_of(problem)}", err=True)
        return 1


def _command(arguments: list[str] | None) -> Any:
    return dragoman.main(args=arguments, prog_name="dragoman", standalone_mode=False) or 0


def _set_index_aside(problem: Exception) -> bool:
    """Whether a damaged index may be the cause and was moved aside, so that a retry rebuilds it."""
    database = sys.modules.get("dragoman.store.database")
    if (
        database is None
        or not isinstance(problem, database.SUSPECT)
        or isinstance(problem, UsageError)
    ):
        return False
    names: list[str] = database.set_aside()
    if names:
        what = f"it was moved to {', '.join(names)} and will be rebuilt"
        click.echo(f"dragoman: the index seems to be damaged ({problem!r}); {what}", err=True)
    return bool(names)


def run() -> None:
    """The console script."""
    gc.freeze()  # imported modules live until exit, so the collector can skip them
    code = main()
    gc.freeze()  # and at exit the system reclaims everything anyway
    sys.exit(code)


if __name__ == "__main__":
    run()
