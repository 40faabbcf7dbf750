"""``dragoman rehearse``: runs a command against the stand-in model, or only serves the model."""

from __future__ import annotations

import shlex
import signal
import threading
from pathlib import PurePath
from types import FrameType
from typing import TYPE_CHECKING

from dragoman.cli import lazy_click as click
from dragoman.cli.agent_option import agent_option
from dragoman.errors import UsageError

if TYPE_CHECKING:
    from dragoman.rehearsal import Rehearsal
    from dragoman.rehearsal.agents.known import AgentName


def _scripted_agents() -> list[str]:
    """The agents that the stand-in model can serve."""
    from dragoman.rehearsal.agents.known import AGENTS

    return [*AGENTS]


@click.command(short_help="Run a command against a scripted stand-in model.")
@click.argument("script")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Port to listen on. A free one by default.",
)
@click.option("--keep", metavar="DIR", help="Create the agent's home directory here, and keep it.")
@agent_option(
    "Agent to set up: {agents}. By default the one that COMMAND names, or else the first two.",
    names=_scripted_agents,
)
@click.option("--model", metavar="NAME", help="The model name that the agent sees.")
@click.option(
    "--retries", type=click.IntRange(min=0), help="How often the agent may retry a request."
)
def rehearse(
    script: str,
    command: tuple[str, ...],
    port: int,
    keep: str | None,
    harness: str | None,
    model: str | None,
    retries: int | None,
) -> int:
    """Run COMMAND with an environment that leads agents to a stand-in model, which plays SCRIPT.

    This needs no key and no network: the model answers on the loopback interface. Without COMMAND,
    the model is served until Ctrl-C, and the variables to set are printed. docs/rehearsal.md
    describes the script format.

    \b
    dragoman rehearse examples/rehearsals/hello.yaml -- codex exec --skip-git-repo-check "hi"
    dragoman rehearse examples/rehearsals/hello.yaml -- claude -p "hi"
    dragoman rehearse examples/rehearsals/hello.yaml -- gemini -p "hi"
    dragoman rehearse script.yaml -- pytest
    """
    from dragoman.rehearsal import Rehearsal
    from dragoman.rehearsal.foreground import run_in_foreground

    with Rehearsal(
        script, agent=_agents(harness, command), home=keep, model=model, retries=retries, port=port
    ) as stage:
        if not command:
            _serve(stage)
            return 0
        code = run_in_foreground(command, stage.environ)
        if unscripted := len(stage.unscripted):
            asked = f"{unscripted} of {len(stage.requests)} requests"
            click.echo(f"dragoman: the script has no reply for {asked}", err=True)
    return code


def _agents(harness: str | None, command: tuple[str, ...]) -> tuple[AgentName, ...]:
    """The agents to set up."""
    from dragoman.rehearsal.agents.known import AGENTS, USUAL_AGENTS

    program = PurePath(command[0]).stem if command else ""
    for each in AGENTS:
        if each == harness or (harness is None and each == program and each not in USUAL_AGENTS):
            return (each,)
    if harness is not None:
        raise UsageError(f"unknown agent {harness!r} (use {', '.join(AGENTS)})")
    return USUAL_AGENTS


def _serve(stage: Rehearsal) -> None:
    """Print the variables to set, and wait for Ctrl-C."""
    done = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        done.set()

    before = {each: signal.signal(each, stop) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        for name, value in stage.env.items():
            click.echo(f"export {name}={shlex.quote(value)}")
        click.echo(f"The stand-in model listens at {stage.url}; press Ctrl-C to stop.", err=True)
        done.wait()
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
