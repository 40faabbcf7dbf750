"""``dragoman run``: one prompt, one turn, and an exit code that says how it went.

On a terminal the turn is shown as it goes. Into a pipe or a file goes the plain transcript, or whatever
``--to`` names, and nothing else; ``--quiet`` leaves only the answer. What we have to say ourselves, and
questions to the user, are on standard error then.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from dragoman.cli import completing
from dragoman.cli.run_options import (
    AgentOptions,
    agent_options,
    prompt_from,
    resume_options,
    schema_from,
    tell,
)
from dragoman.cli.streams import standard_output

if TYPE_CHECKING:
    from dragoman.cli.live.live import LiveView
    from dragoman.model.messages import Message


@click.command(short_help="Give the agent a prompt and watch it work.")
@click.argument("prompt")
@click.option("-i", "--image", "images", multiple=True, metavar="FILE", help="Show it an image.")
@resume_options
@click.option("--output-schema", "schema", metavar="FILE", help="The answer's JSON schema.")
@click.option(
    "--to",
    metavar="FORMAT",
    help="Stream an export instead; see `dragoman dialects`.",
    shell_complete=completing.formats,
)
@click.option("-q", "--quiet", is_flag=True, help="Print the answer, and only that.")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS")
@click.option(
    "--exec", "one_shot", is_flag=True, help="Use a process of its own, without approvals."
)
@agent_options
def run(
    prompt: str,
    images: tuple[str, ...],
    resume: str | None,
    last: bool,
    schema: str | None,
    to: str | None,
    quiet: bool,
    timeout: float | None,
    one_shot: bool,
    **options: Any,
) -> int:
    """Give the agent PROMPT (`-`: from standard input) and watch it work.

    Ctrl-C interrupts the turn, a second one quits. Exit code 0: completed, 1: failed, 2: a wrong
    request, 130: interrupted.

    \b
    dragoman run "fix the failing test"
    dragoman run "why is this slow?" --to messages | jq .type
    git diff | dragoman run - --quiet --sandbox read-only
    """
    if to and quiet:
        raise click.UsageError("--to and --quiet say different things about the output.")
    if one_shot:
        options["approvals"] = "never"
    agent = AgentOptions(**options)
    agent.check()
    asked = {
        "images": agent.images(images),
        "effort": agent.effort,
        "output_schema": schema_from(schema),
    }
    from dragoman.cli.live.loop import run_async

    output = _Output(to=to, quiet=quiet)
    mode = "exec" if one_shot else "app-server"
    text = prompt_from(prompt)
    session = agent.session_to_resume(resume, last=last)
    return run_async(lambda: _run(agent, output, text, asked, session, timeout, mode))


async def _run(
    options: AgentOptions,
    output: _Output,
    prompt: str,
    asked: dict[str, Any],
    resume: str | None,
    seconds: float | None,
    mode: str,
) -> int:
    from dragoman.cli.live.loop import EXIT_CODES, live_screen, play

    with live_screen(output.view) as presses:
        connected = options.connected(
            output.view, mode=mode, shows=not output.is_view, seconds=seconds
        )
        async with connected as (agent, _):
            options.warn(agent, output.view)
            output.pid = lambda: getattr(agent, "pid", None)
            session = await options.start(agent, resume=resume)
            turn = session.run(prompt, **asked)
            ended = await play(turn, session, output.view, presses, output.show)
            output.close()
    if ended is None:
        return 1
    if ended.outcome == "failed" and not output.is_view:
        tell(ended.error.message if ended.error else "the turn failed")
    return EXIT_CODES[ended.outcome]


class _Output:
    """Where the messages of a run go: to the view, to an exporter, or all but the answer nowhere."""

    def __init__(self, *, to: str | None, quiet: bool) -> None:
        from dragoman.cli.live.live import view_for

        stdout = standard_output()
        self._stream: BinaryIO = stdout.buffer
        self.is_view = to is None and not quiet
        # What else there is to show, questions above all, is for the person at the terminal.
        self.view: LiveView = view_for(stdout if self.is_view else sys.stderr)
        self._export: Callable[[list[Message]], bytes] | None = None
        self._finish: Callable[[], bytes] = bytes
        self._answer = ""
        self.pid: Callable[[], int | None] = lambda: None
        """The process of the agent, once there is one."""
        if to is not None:
            from dragoman.reading.mapper import make_exporter

            exporter, _ = make_exporter(to, width=self.view.width, pid=lambda: self.pid())
            self._export, self._finish = exporter.export, exporter.finish

    def show(self, message: Message) -> None:
        if self.is_view:
            self.view.show(message)
        elif self._export is not None:
            self._write(self._export([message]))
        else:
            from dragoman.model.messages import Text

            if isinstance(message, Text):
                self._answer = message.text

    def close(self) -> None:
        self._write(self._finish())
        if self._answer:
            self._write(f"{self._answer.rstrip()}\n".encode("utf-8", "backslashreplace"))

    def _write(self, data: bytes) -> None:
        if data:
            self._stream.write(data)
            self._stream.flush()
