"""``dragoman rehearse``: run anything against the stand-in model, or just serve it."""

from __future__ import annotations

import shlex
import signal
import threading
from types import FrameType
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from dragoman.rehearsal import Rehearsal


@click.command(short_help="Run a command against a stand-in model that plays a script.")
@click.argument("script")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Listen here. Any free port otherwise."
)
@click.option(
    "--keep", metavar="DIR", help="Put the agent's home directory here and leave it in place."
)
@click.option("--model", metavar="NAME", help="The model that the agent believes it talks to.")
@click.option(
    "--retries", type=click.IntRange(min=0), help="How often the agent may repeat a request."
)
def rehearse(
    script: str,
    command: tuple[str, ...],
    port: int,
    keep: str | None,
    model: str | None,
    retries: int | None,
) -> int:
    """Run COMMAND with an agent set up for a stand-in model that plays SCRIPT.

    No key and no network are needed: the model answers on loopback, and the environment leads Codex and
    Claude to it. Without a COMMAND, it serves until Ctrl-C and prints what to set. docs/rehearsal.md has
    the format.

    \b
    dragoman rehearse examples/rehearsals/hello.yaml -- codex exec --skip-git-repo-check "hi"
    dragoman rehearse examples/rehearsals/hello.yaml -- claude -p "hi"
    dragoman rehearse script.yaml -- pytest
    """
    from dragoman.rehearsal import Rehearsal
    from dragoman.rehearsal.foreground import run_in_foreground
    from dragoman.rehearsal.stage import AGENTS

    with Rehearsal(
        script, agent=AGENTS, home=keep, model=model, retries=retries, port=port
    ) as stage:
        if not command:
            _serve(stage)
            return 0
        code = run_in_foreground(command, stage.environ)
        if unscripted := len(stage.unscripted):
            asked = f"{unscripted} of {len(stage.requests)} requests"
            click.echo(f"dragoman: the script had nothing to say to {asked}", err=True)
    return code


def _serve(stage: Rehearsal) -> None:
    """Say what to set, and wait for Ctrl-C."""
    done = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        done.set()

    before = {each: signal.signal(each, stop) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        for name, value in stage.env.items():
            click.echo(f"export {name}={shlex.quote(value)}")
        click.echo(f"The stand-in model answers at {stage.url}; Ctrl-C ends it.", err=True)
        done.wait()
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
