"""``dragoman relay``: keep an agent running when its terminal or its connection goes away."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from dragoman.client.relays import RelayFacts


@click.group(short_help="Keep an agent running when its terminal or connection goes away.")
def relay() -> None:
    """Run a program under a small process that owns its pipes.

    The program keeps running when your terminal or connection goes away. Everything it writes is kept in a journal,
    and you can attach again, from anywhere, without missing a line.
    """


@relay.command()
@click.option("--name", metavar="NAME", help="A name for it, instead of a random one.")
@click.option(
    "--cwd", type=click.Path(exists=True, file_okay=False), default=".", help="Where it runs."
)
@click.option(
    "--unowned",
    type=click.FloatRange(min=0, min_open=True),
    default=24.0,
    show_default=True,
    metavar="HOURS",
    help="End it after this time in which no one was attached to write.",
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def start(name: str | None, cwd: str, unowned: float, command: tuple[str, ...]) -> int:
    """Start COMMAND under a relay, and print the relay's name. Put -- before the command.

    \b
    dragoman relay start -- codex app-server
    """
    if name is not None and not name.replace("-", "").replace("_", "").isalnum():
        problem = "a name has letters, digits, - and _ only"
        raise click.BadParameter(problem, param_hint="--name")
    from dragoman.client import relays

    directory = os.path.abspath(cwd)
    click.echo(relays.start(command, name=name, cwd=directory, unowned_seconds=unowned * 3600))
    return 0


@relay.command(name="list")
@click.option("--all", "every", is_flag=True, help="Also those that have ended.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")
def list_(every: bool, as_json: bool) -> int:
    """List relays: what runs, since when, and whether someone is attached."""
    from dragoman.client import relays

    shown = [each for each in relays.every() if every or each.is_running]
    if as_json:
        import msgspec

        for each in shown:
            click.echo(msgspec.json.encode(each).decode())
        return 0
    for each in shown:
        click.echo(_row(each))
    if not shown:
        click.echo("no relay is running", err=True)
    return 0


def _row(each: RelayFacts) -> str:
    import shlex
    import time

    from dragoman.rendering.render import flat

    if each.is_running:
        state = "attached" if each.is_owned else "running"
    else:
        state = "ended" if each.exit_code is None else f"ended ({each.exit_code})"
    since = time.strftime("%m-%d %H:%M", time.localtime(each.started))
    return flat(f"{each.name:<12}  {state:<10}  {since}  {shlex.join(each.command)}")


@relay.command()
@click.argument("name")
@click.option(
    "--from",
    "first",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    metavar="N",
    help="Begin with record N of the journal; 0 shows only what is new.",
)
@click.option("--read-only", is_flag=True, help="Watch, and leave the writing to others.")
def attach(name: str, first: int, read_only: bool) -> int:
    """Connect this terminal's input and output with the program of the relay NAME.

    It shows what the program has written since the beginning, and goes on live. Lines from standard input go to the
    program. If another client was attached to write, its lines are refused from now on. Ctrl-C detaches; the program
    keeps running. The exit code is that of the program.
    """
    from dragoman.client import relays

    def warn(text: str) -> None:
        click.echo(f"dragoman: {text}", err=True)

    code = relays.attach(name, first=first, write=not read_only, warn=warn)
    if code is None:
        click.echo("dragoman: the relay closed the connection", err=True)
        return 1
    return code if code >= 0 else 128 - code


@relay.command()
@click.argument("name")
def pipe(name: str) -> int:
    """Pass records between standard input and output and the relay NAME, for a program at the other end of ssh."""
    if sys.stdin.isatty():
        problem = "this is for programs; use `dragoman relay attach` in a terminal"
        raise click.UsageError(problem)
    from dragoman.client import relays

    relays.pipe(name)
    return 0


@relay.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME…")
def stop(names: tuple[str, ...]) -> int:
    """End relays, with their programs and everything these have started."""
    from dragoman.client import relays

    for name in names:
        if not relays.stop(name):
            click.echo(f"{name} has ended already", err=True)
    return 0
