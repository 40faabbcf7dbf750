"""``dragoman``: the program's commands, and how it ends.

Nothing is imported before a command is known to need it, so that ``dragoman --help`` is quick. Every
error that a user can cause ends in one sentence: exit code 2 for a wrong request, 1 for a failure.
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
    "run": ("dragoman.cli.commands.run", "Give the agent a prompt and watch it work."),
    "chat": ("dragoman.cli.commands.chat", "ChatLoop with the agent, prompt by prompt."),
    "serve": ("dragoman.cli.commands.serve", "Open the page: watch, steer and approve agents."),
    "convert": (
        "dragoman.cli.commands.convert",
        "Convert a session file or a stream to another format.",
    ),
    "dialects": (
        "dragoman.cli.commands.dialects",
        "List what can be read, and what it can be turned into.",
    ),
    "sessions": ("dragoman.cli.commands.sessions", "List the sessions on this disk, newest first."),
    "show": ("dragoman.cli.commands.show", "Read a session as a transcript."),
    "search": ("dragoman.cli.commands.search", "Find what was said or done in any session."),
    "tail": ("dragoman.cli.commands.tail", "Follow the sessions that are being written right now."),
    "export": (
        "dragoman.cli.commands.export",
        "Write a session to a file: a page, Markdown, text, JSON.",
    ),
    "usage": ("dragoman.cli.commands.usage", "Tokens and money: what all sessions have cost."),
    "replay": (
        "dragoman.cli.commands.replay",
        "Watch a session again, or serve it as if it were live.",
    ),
    "demo": ("dragoman.cli.commands.demo", "Watch the real agent fix a test. No key, no network."),
    "policy": (
        "dragoman.cli.commands.policy",
        "Try approval rules: what they say to a command, and why.",
    ),
    "rehearse": ("dragoman.cli.commands.rehearse", "Run anything against a stand-in model."),
    "completion": (
        "dragoman.cli.commands.completion",
        "Print the script for completion in your shell.",
    ),
    "doctor": (
        "dragoman.cli.commands.doctor",
        "Check that everything is there, and say what to do if not.",
    ),
}


class _Commands(click.Group):
    """Commands whose modules are imported only when they are called."""

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
        except BrokenPipeError:  # before click sees it, who calls it a failure
            return reader_left()

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in _COMMANDS.items()])


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="dragoman")
def dragoman() -> None:
    """Reads everything that the Codex CLI has ever said, and drives it: one typed stream of messages."""


def main(arguments: list[str] | None = None) -> Any:
    """Run a command; the process's exit code."""
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
    """Whether a damaged index may be the cause, and was put out of the way: the next try builds another."""
    database = sys.modules.get("dragoman.store.database")
    if (
        database is None
        or not isinstance(problem, database.SUSPECT)
        or isinstance(problem, UsageError)
    ):
        return False
    names: list[str] = database.set_aside()
    if names:
        what = f"it was moved to {', '.join(names)} and is built anew"
        click.echo(f"dragoman: the index seems to be damaged ({problem!r}); {what}", err=True)
    return bool(names)


def run() -> None:
    """The console script."""
    gc.freeze()  # what is imported stays: it need not be looked through again and again,
    code = main()
    gc.freeze()  # nor, by the end, what the system takes back anyway
    sys.exit(code)


if __name__ == "__main__":
    run()
