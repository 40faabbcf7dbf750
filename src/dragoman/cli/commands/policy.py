"""``dragoman policy check``: evaluates approval rules for a command, file changes or a tool."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from dragoman.client.policy_check import Checked


@click.group(short_help="Try approval rules on a command, and see why they decide.")
def policy() -> None:
    """Try the rules of a policy file, without an agent."""


@policy.command(context_settings={"ignore_unknown_options": False, "allow_interspersed_args": True})
@click.argument("file", type=click.Path(dir_okay=False))
@click.option(
    "--cwd",
    type=click.Path(),
    default=".",
    metavar="DIR",
    help="The session's directory. The current one by default.",
)
@click.option(
    "--stdin", is_flag=True, help="Read requests as JSON lines, and answer each with a JSON line."
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def check(file: str, cwd: str, stdin: bool, command: tuple[str, ...]) -> int:
    """Print the decision on COMMAND, the rule that made it, and the reason.

    Nothing is run. Put -- before the command. Several words are an argument list; a single word is a
    shell command line: check FILE -- 'git status && make'.

    With --stdin, each line is {"command": "…" or […], "cwd": …}, {"paths": […], "cwd": …} or
    {"tool": …}, and is answered by {"decision", "rule", "why"}. An invalid line is denied. "cwd" is
    where the command will run, relative to --cwd, which is its default.

    Notes on rules that name only an interpreter or a launcher go to standard error.

    The exit code is 0 for any decision, and 2 if FILE or the request is invalid.
    """
    if stdin == bool(command):
        problem = "give either a command after --, or --stdin"
        raise click.UsageError(problem)
    from dragoman.client.policy_check import PolicyCheck

    checks = PolicyCheck(file, cwd)
    for remark in checks.remarks():
        click.echo(f"note: {_visible(remark)}", err=True)
    if not stdin:
        found = checks.command(command[0] if len(command) == 1 else list(command))
        click.echo(found.decision)
        click.echo(f"  rule: {found.rule or '(none)'}")
        click.echo(f"  why:  {_visible(found.why)}")
        return 0
    for line in sys.stdin.buffer:
        print_line(checks.line(line))
    return 0


def print_line(found: Checked) -> None:
    """Print one answer as a JSON line, and flush: the caller may wait for it."""
    answer = {"decision": found.decision, "rule": found.rule, "why": found.why}
    click.echo(json.dumps(answer))
    sys.stdout.flush()


def _visible(text: str) -> str:
    """Escape control characters, so that the text of a command cannot drive the terminal."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
