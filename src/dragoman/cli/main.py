"""``dragoman``: the list of commands, error messages and exit codes.

A command's module is imported only when it runs, so that ``dragoman --help`` is quick; and click only for what
:mod:`dragoman.cli.declaring` leaves to it. Every error that a user can cause is reported in one sentence: exit code 2
for a usage error, 1 for a failure.
"""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from dragoman.cli import lazy_click as click
from dragoman.cli.declaring import DeclaredCommand
from dragoman.cli.streams import reader_left
from dragoman.errors import DragomanError, UsageError, reason_of

if TYPE_CHECKING:
    from dragoman.cli.group import dragoman

_QUICK: Final = frozenset(("run", "sessions", "search", "usage", "show", "convert"))
"""Commands that have little to do, as a rule, so that their imports count."""
__all__ = ["COMMANDS", "dragoman", "main", "run"]

COMMANDS: Final = {
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
    "handoff": (
        "dragoman.cli.commands.handoff",
        "Hand a session off to another agent.",
    ),
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
    "relay": (
        "dragoman.cli.commands.servers.relay",
        "Keep an agent running when its terminal or connection goes away.",
    ),
    "mcp": (
        "dragoman.cli.commands.servers.mcp",
        "Offer saved sessions to agents, as an MCP server.",
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


def main(arguments: list[str] | None = None) -> Any:
    """Run a command; returns the exit code."""
    try:
        try:
            return _command(arguments)
        except Exception as problem:
            if not _set_index_aside(problem):
                raise
        return _command(arguments)
    except DragomanError as problem:
        click.echo(f"dragoman: {problem}", err=True)
        return 2 if isinstance(problem, UsageError) else 1
    except OSError as problem:
        what = f"{problem.filename}: " if problem.filename is not None else ""
        click.echo(f"dragoman: {what}{reason_of(problem)}", err=True)
        return 1
    except (click.ClickException, click.Abort) as problem:  # names that import click
        from dragoman.cli.group import report

        return report(problem)


def _command(arguments: list[str] | None) -> Any:
    words = sys.argv[1:] if arguments is None else arguments
    declared = _declared(words)
    values = declared.read(words[1:]) if declared is not None else None
    if declared is None or values is None:
        from dragoman.cli.group import dragoman

        return dragoman.main(args=arguments, prog_name="dragoman", standalone_mode=False) or 0
    try:
        return declared.run(values) or 0
    except BrokenPipeError:
        return reader_left()
    except (KeyboardInterrupt, EOFError):
        click.echo(err=True)
        return 130
    except Exception as problem:
        if "click" in sys.modules:  # or it is none of click's
            from dragoman.cli.group import locate

            locate(problem, words[0])
        raise


def _declared(words: list[str]) -> DeclaredCommand | None:
    """The command to run, if it can be run without click."""
    if not words or words[0] not in COMMANDS or "_DRAGOMAN_COMPLETE" in os.environ:
        return None
    if words[0] in _QUICK:
        gc.set_threshold(30_000)  # rarely: what is imported now stays
        _import_msgspec()
    command = getattr(import_module(COMMANDS[words[0]][0]), words[0])
    return command if isinstance(command, DeclaredCommand) else None


def _import_msgspec() -> None:
    """Import msgspec without ``typing_extensions``, which takes longer to import than msgspec itself.

    Msgspec does without where it is not installed: since Python 3.11, ``typing`` has what it needs.
    """
    name = "typing_extensions"
    if name in sys.modules or "msgspec" in sys.modules:
        return
    sys.modules[name] = None  # pyright: ignore[reportArgumentType]  that is: not installed
    try:
        import msgspec
    finally:
        del sys.modules[name]
    assert msgspec.Struct


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


def __getattr__(name: str) -> Any:
    """``dragoman``, the group of all commands, which needs click."""
    if name != "dragoman":
        raise AttributeError(name)
    from dragoman.cli.group import dragoman

    return dragoman


def run() -> None:
    """The console script."""
    gc.freeze()  # imported modules live until exit, so the collector can skip them
    code = main()
    gc.freeze()  # and at exit the system reclaims everything anyway
    sys.exit(code)


if __name__ == "__main__":
    run()
